package filter

import (
	"maps"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/similar"
)

// fileTypes lists the names of a Grep's types, each with the names of its files. The
// names and suffixes are those of the languages' own documents.
const fileTypes = `
ada *.adb *.ads
asm *.asm *.s *.S
astro *.astro
awk *.awk
bazel *.bazel *.bzl BUILD WORKSPACE MODULE.bazel
c *.c *.h *.H *.cats
clojure *.clj *.cljc *.cljs *.cljx *.edn
cmake *.cmake CMakeLists.txt
cpp *.cpp *.cc *.cxx *.C *.c++ *.hpp *.hh *.hxx *.h *.H *.h++ *.inl *.ipp
crystal *.cr *.ecr
cs *.cs
csharp *.cs
css *.css *.scss
csv *.csv
cuda *.cu *.cuh
cython *.pyx *.pxi *.pxd
d *.d
dart *.dart
diff *.diff *.patch
docker Dockerfile *.dockerfile Dockerfile.*
docx *.docx
elixir *.ex *.exs *.eex *.heex *.leex
elm *.elm
erlang *.erl *.hrl
fish *.fish
fortran *.f *.F *.f77 *.F77 *.f90 *.F90 *.f95 *.F95 *.f03 *.f08
fsharp *.fs *.fsi *.fsx
gleam *.gleam
go *.go
gradle *.gradle *.gradle.kts gradlew gradle.properties
graphql *.graphql *.graphqls *.gql
groovy *.groovy *.gradle
h *.h *.hh *.hpp *.hxx
haskell *.hs *.lhs *.cabal
hcl *.hcl *.tf *.tfvars
html *.html *.htm *.xhtml
ini *.ini *.cfg *.conf
java *.java *.jsp *.jspx *.properties
jinja *.j2 *.jinja *.jinja2
js *.js *.jsx *.mjs *.cjs *.vue
json *.json *.jsonc *.json5 *.jsonl composer.lock
julia *.jl
jupyter *.ipynb
kotlin *.kt *.kts
less *.less
lisp *.lisp *.lsp *.el *.cl
lock *.lock package-lock.json
log *.log
lua *.lua
make Makefile makefile GNUmakefile *.mk *.mak Makefile.*
markdown *.md *.markdown *.mdown *.mdx *.mkd
md *.md *.markdown *.mdown *.mdx *.mkd
meson meson.build meson_options.txt
nim *.nim *.nimble *.nimf
nix *.nix
objc *.m *.h
objcpp *.mm *.h
ocaml *.ml *.mli *.mll *.mly
odp *.odp
ods *.ods
odt *.odt
office *.docx *.xlsx *.pptx *.odt *.ods *.odp
org *.org
pdf *.pdf
perl *.pl *.pm *.PL *.pod *.t *.perl
php *.php *.php3 *.php4 *.php5 *.phtml
powershell *.ps1 *.psm1 *.psd1
pptx *.pptx
prisma *.prisma
protobuf *.proto
py *.py *.pyi
python *.py *.pyi
r *.r *.R *.Rmd *.Rnw
rst *.rst
ruby *.rb *.gemspec *.rake Gemfile Rakefile config.ru .irbrc
rust *.rs
sass *.sass *.scss
scala *.scala *.sbt
scheme *.scm *.ss
sh *.sh *.bash *.zsh *.ksh *.csh .bashrc .bash_profile .profile .zshrc
sol *.sol
sql *.sql *.psql
svelte *.svelte
svg *.svg
swift *.swift
tcl *.tcl
terraform *.tf *.tfvars *.tf.json
tex *.tex *.ltx *.cls *.sty *.bib *.dtx
text *.txt
toml *.toml Cargo.lock
ts *.ts *.tsx *.mts *.cts
tsx *.tsx
txt *.txt
typescript *.ts *.tsx *.mts *.cts
vb *.vb
verilog *.v *.vh *.sv *.svh
vhdl *.vhd *.vhdl
vim *.vim .vimrc
vue *.vue
wasm *.wat *.wast
xlsx *.xlsx
xml *.xml *.xsl *.xslt *.xsd *.xjb *.rng *.dtd *.plist
yaml *.yaml *.yml
zig *.zig
`

// Types returns the names of the file types, sorted.
func Types() (names []string) {
	for line := range strings.Lines(fileTypes) {
		if name, _, ok := strings.Cut(line, " "); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// namesOf returns the names of a type's files.
func namesOf(typ string) (names string, ok bool) {
	_, rest, ok := strings.Cut(fileTypes, "\n"+typ+" ")
	names, _, _ = strings.Cut(rest, "\n")
	return names, ok && !strings.ContainsAny(typ, " \n")
}

// otherNames returns the types of usual names of languages.
func otherNames() map[string]string {
	return map[string]string{
		"assembly": "asm", "bash": "sh", "c#": "csharp", "c++": "cpp", "cplusplus": "cpp", "dockerfile": "docker", "emacs": "lisp", "elisp": "lisp",
		"f#": "fsharp", "golang": "go", "javascript": "js", "javascriptreact": "js", "jsx": "js", "latex": "tex", "makefile": "make", "node": "js",
		"notebook": "jupyter", "objective-c": "objc", "objectivec": "objc", "plaintext": "txt", "proto": "protobuf", "python3": "py", "rlang": "r",
		"rustlang": "rust", "scss": "sass", "shell": "sh", "shellscript": "sh", "solidity": "sol", "typescriptreact": "ts", "zsh": "sh",
	}
}

// nearTypes returns the type that an unknown one is another name of, or else the types that
// look like it, and those of a suffix.
func nearTypes(typ string) (near []string) {
	if known, ok := otherNames()[strings.ToLower(typ)]; ok {
		return []string{known}
	}
	for _, name := range similar.Near(typ, append(Types(), slices.Sorted(maps.Keys(otherNames()))...), 3) {
		if known, ok := otherNames()[name]; ok {
			name = known
		}
		if !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	for _, t := range Types() {
		names, _ := namesOf(t)
		if len(near) < 5 && !slices.Contains(near, t) && slices.Contains(strings.Fields(names), "*."+strings.TrimPrefix(typ, ".")) {
			near = append(near, t)
		}
	}
	return near
}
