package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/similar"
)

// habit is a tool of fsmcp with the names of tools of other servers and clients that do the
// same, and what a caller has to know beside its name.
type habit struct {
	tool  string
	names string
	how   string
}

// habits lists them. The names are those of the MCP project's file system server, of Claude
// Code, of Anthropic's text editor tools, of Cursor, Cline, Codex, Gemini CLI and VS Code.
func habits() []habit {
	return []habit{
		{"Read", "read_file read_text_file read_media_file view view_file cat open open_file get_file get_file_contents", ""},
		{"Read", "read_multiple_files read_many_files read_files", "one file a call"},
		{"Read", "list_directory list_directory_with_sizes list_dir list_files ls dir directory_tree tree get_file_info stat", "of the folder"},
		{"Write", "write_file write_to_file write_text_file create create_file save_file new_file", ""},
		{"Write", "create_directory make_directory mkdir", "it makes the folders of a new file"},
		{"Edit", "edit_file str_replace str_replace_editor str_replace_based_edit_tool replace replace_in_file search_replace update_file apply_patch apply_diff patch insert", ""},
		{"NotebookEdit", "edit_notebook edit_notebook_file edit_notebook_cell notebook_edit", ""},
		{"Glob", "search_files find find_files file_search find_by_name glob_files", ""},
		{"Grep", "search grep_search search_file_content search_text search_in_files search_for_pattern ripgrep rg", ""},
		{"Move", "move_file move_files rename rename_file mv copy copy_file cp", ""},
		{"Delete", "delete_file delete_files delete_directory remove remove_file unlink rm rmdir", ""},
		{"MultiEdit", "edit_files multi_edit_file multi_replace_string_in_file batch_edit", ""},
	}
}

// unknownTool says that there is no such tool, and which one the caller most likely wants. A
// tool that fsmcp has and does not publish is named with what the user can do.
func (s *Server) unknownTool(given string) string {
	meant, how := s.meantTool(given)
	said := fmt.Sprintf("There is no tool %s", phrase.QuoteAtMost(given, 80))
	switch {
	case slices.Contains(s.opts.Unoffered, meant) && s.opts.ReadOnly:
		said += " here: the user has this server change nothing (--read-only)."
	case slices.Contains(s.opts.Unoffered, meant) && meant == given:
		said += " here; the user can offer it: add it to --tools of fsmcp, or to its setting \"tools\"."
	case slices.Contains(s.opts.Unoffered, meant):
		said += fmt.Sprintf("; what does that is %s, which is not offered here. The user can offer it: add it to --tools of fsmcp, or to its setting \"tools\".", meant)
	case meant != "" && how != "":
		said += fmt.Sprintf("; use %s (%s).", meant, how)
	case meant != "":
		said += fmt.Sprintf("; use %s.", meant)
	default:
		said += "."
	}
	return said + fmt.Sprintf(" The tools are %s.", s.known)
}

// longestToolName bounds the bytes of an unknown name that are compared.
const longestToolName = 80

// meantTool returns the tool that does what a caller expects of another name: published or
// not, "" if there is none.
func (s *Server) meantTool(given string) (tool, how string) {
	given = given[:min(len(given), longestToolName)]
	if i := strings.LastIndexAny(given, ".:/"); i >= 0 {
		given = given[i+1:]
	}
	if i := strings.LastIndex(given, "__"); i >= 0 { // mcp__SERVER__TOOL
		given = given[i+2:]
	}
	folded := foldTool(given)
	all := slices.Clone(s.opts.Unoffered)
	for _, t := range s.opts.Tools {
		all = append(all, t.Name)
	}
	if i := slices.IndexFunc(all, func(name string) bool { return foldTool(name) == folded }); i >= 0 {
		return all[i], ""
	}
	for _, h := range habits() {
		if !slices.Contains(all, h.tool) {
			continue
		}
		for name := range strings.FieldsSeq(h.names) {
			if foldTool(name) == folded {
				return h.tool, h.how
			}
		}
	}
	return similar.Nearest(all, func(name string) (int, bool) {
		return similar.Within(folded, foldTool(name), len(name)/3)
	}), ""
}

// noSeparators removes what separates the words of a name. To make it takes longer than to use it.
var noSeparators = strings.NewReplacer("_", "", "-", "", " ", "")

// foldTool makes multi_edit, multi-edit and MultiEdit equal.
func foldTool(name string) string {
	return strings.ToLower(noSeparators.Replace(name))
}
