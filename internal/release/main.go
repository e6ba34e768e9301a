// Command release makes what a release of fsmcp consists of: an archive, an MCP bundle, an
// npm package and a list of contents (SBOM) for each system, an image for containers,
// checksums, and the files of other package managers, filled in from the templates in
// packaging. It promises the same bytes for the same commit and version of Go, from
// whatever folder it runs in.
//
// It is started in the top folder of a checkout ("make release") and builds what lies
// there. It publishes nothing and signs nothing, and it makes no fsmcp-vips: that program
// needs C code, which is linked to the libvips of one system.
//
// The list of contents is made by own code: of the tools for it, cyclonedx-gomod and the
// package licensecheck could not be fetched when this was written.
//
// The image is made by own code, too. go-containerregistry v0.22.1 needs five more modules,
// and would replace the 30 lines that name blobs by their hashes: what is in the layer, and
// the archive, would still be made here.
//
// goreleaser v2.14.0 was tried for the archives. It takes 2 minutes to fetch and compile,
// which the tests of archives would have to pay, too, and 7 seconds a run. It would replace
// the 40 lines of packTar and pack by 40 lines of configuration. Its archives have the
// programs behind the other files in the order in which builds end; the licences of what is
// linked into a program have to be known before it builds it; and what it leaves in the
// folder has no checksums.
//
// Usage: release [-version V] [-commit HASH] [-time SECONDS] [-targets LIST] [-out DIR]
package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	r := release{root: ".", log: os.Stderr, level: bestCompression, npm: "npm"}
	var targets string
	var seconds int64
	flag.StringVar(&r.version, "version", "devel", "the version that the programs print")
	flag.StringVar(&r.commit, "commit", "unknown", "the commit that the programs print")
	flag.Int64Var(&seconds, "time", 0, "the time of every file, in seconds since 1970")
	flag.StringVar(&targets, "targets", strings.Join(allTargets, ","), "systems, separated by commas")
	flag.StringVar(&r.out, "out", "dist", "the folder for the results; what is in it is removed")
	flag.Parse()
	r.time = time.Unix(seconds, 0).UTC()
	r.targets = strings.Split(targets, ",")
	if err := r.make(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// allTargets are the systems of a release, as Go names them.
var allTargets = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}

// A release is one run of the program.
type release struct {
	root, out       string
	version, commit string
	time            time.Time
	targets         []string
	level           int    // of compression
	npm             string // the program; "" keeps the official packer out
	log             io.Writer
	sums            map[string]string // of the files that are written, by their names
}

// A product is a file of the release as the templates see it.
type product struct {
	OS, Arch     string
	Archive      string // name
	ArchiveHash  string // SHA-256 in hex
	Bundle       string
	BundleHash   string
	ProgramNames []string
}

// facts are the data of every template.
type facts struct {
	Version  string // as a package manager wants it: numbers, without "v"
	Tag      string // as the programs print it
	Address  string // where the files would lie
	Tools    []tool
	Manual   []string // names of manual pages
	Products []product
	Product  product // of the template that is filled in for one system
}

// address is where the generated files say that the release lies. Nothing lies there: no
// release is published, and the name can never exist (RFC 6761, section 6.4).
const address = "https://example.invalid/fsmcp/"

// make makes everything. What the folder held before is removed, if it holds nothing but
// an earlier release.
func (r *release) make() error {
	if err := r.clearOut(); err != nil {
		return err
	}
	r.sums = make(map[string]string)
	work, err := os.MkdirTemp("", "fsmcp-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b := builder{release: r, dir: work}
	pages, tools, err := b.pages()
	if err != nil {
		return err
	}
	manual, err := r.files("man/*.1")
	if err != nil {
		return err
	}
	documents, err := r.files("LICENSE", "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/*")
	if err != nil {
		return err
	}
	f := facts{Version: packageVersion(r.version), Tag: r.version, Address: address, Tools: tools}
	for _, page := range manual {
		f.Manual = append(f.Manual, page.name)
	}
	texts := slices.Concat(pages, manual, documents)
	packer := r.packer(work)
	for _, target := range r.targets {
		p, err := r.makeTarget(&b, target, texts, f, packer)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		f.Products = append(f.Products, p)
	}
	if err := r.npmStarter(f); err != nil {
		return err
	}
	if err := r.fillIn(f); err != nil {
		return err
	}
	return r.writeSums()
}

// files returns the files of the checkout that match patterns. A name without a wildcard
// has to exist.
func (r *release) files(patterns ...string) (out []entry, err error) {
	for _, pattern := range patterns {
		names, err := fs.Glob(os.DirFS(r.root), pattern)
		if err != nil || len(names) == 0 && !strings.Contains(pattern, "*") {
			return nil, fmt.Errorf("%s: %w", pattern, cmp.Or(err, os.ErrNotExist))
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
			if err != nil {
				return nil, err
			}
			out = append(out, entry{name: name, data: text, mode: 0o644})
		}
	}
	return out, nil
}

// makeTarget makes the files of one system: the programs and texts are in its archive.
func (r *release) makeTarget(b *builder, target string, texts []entry, f facts, packer packer) (product, error) {
	p := product{}
	p.OS, p.Arch, _ = strings.Cut(target, "/")
	programs, list, notices, err := b.build(p.OS, p.Arch)
	if err != nil {
		return p, err
	}
	base := "fsmcp-" + f.Version + "-" + p.OS + "-" + p.Arch
	if err := r.write(base+".cdx.json", list); err != nil {
		return p, err
	}

	files := slices.Concat(programs, texts, []entry{notices})
	archive, err := pack(p.OS, "fsmcp-"+f.Version+"/", files, r.time, r.level)
	if err != nil {
		return p, err
	}
	p.Archive, p.ArchiveHash = base+".tar.gz", hash(archive)
	if p.OS == "windows" {
		p.Archive = base + ".zip"
	}
	if err := r.write(p.Archive, archive); err != nil {
		return p, err
	}

	for _, e := range programs {
		p.ProgramNames = append(p.ProgramNames, e.name)
	}
	f.Product = p
	bundle, err := r.bundle(f, files, packer)
	if err != nil {
		return p, err
	}
	p.Bundle, p.BundleHash = base+".mcpb", hash(bundle)
	if err := r.write(p.Bundle, bundle); err != nil {
		return p, err
	}
	licences := slices.DeleteFunc(slices.Clone(texts), func(e entry) bool { return e.name != "LICENSE" })
	licences = append(licences, notices)
	if p.OS == "linux" {
		image, err := r.image(f, programs, licences)
		if err != nil {
			return p, err
		}
		if err := r.write(base+".oci.tar", image); err != nil {
			return p, err
		}
	}
	return p, r.npmPrograms(f, programs, licences)
}

// marker is in every folder that a release made, and in no other.
const marker = "SHA256SUMS"

// clearOut removes an earlier release and makes the folder.
func (r *release) clearOut() error {
	names, err := os.ReadDir(r.out)
	if err == nil && len(names) > 0 {
		if _, err := os.Stat(filepath.Join(r.out, marker)); err != nil {
			return fmt.Errorf("%s holds files, but no %s of an earlier release: remove them or name another folder", r.out, marker)
		}
		if err := os.RemoveAll(r.out); err != nil {
			return err
		}
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// From here on an interrupted run can be made again.
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, marker), nil, 0o644)
}

// write writes a file of the release, and notes its checksum.
func (r *release) write(name string, data []byte) error {
	fmt.Fprintf(r.log, "release: %10d %s\n", len(data), name)
	r.sums[name] = hash(data)
	path := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// writeSums writes the checksums of all files, in the form of sha256sum.
func (r *release) writeSums() error {
	var list []byte
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		list = fmt.Appendf(list, "%s  %s\n", r.sums[name], name)
	}
	return os.WriteFile(filepath.Join(r.out, marker), list, 0o644)
}

func hash(data []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

var (
	semantic = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	unusable = regexp.MustCompile(`[^0-9A-Za-z.-]+`)
)

// packageVersion returns a version by the rules of Semantic Versioning 2.0.0: that of the
// tag, or one below every release that holds the name of the commit.
func packageVersion(version string) string {
	if v := strings.TrimPrefix(version, "v"); semantic.MatchString(v) {
		return v
	}
	return "0.0.0-g" + strings.Trim(unusable.ReplaceAllString(version, "-"), "-.")
}
