package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmcp/fsmcp/internal/media/officetest"
)

// office FILE [KIND] writes the sample of an Office document, of a kind or of that of the name.
// office FILE docx XML writes a text document with this body.
func writeOffice(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 3 {
		ts.Fatalf("office FILE [KIND [XML]]")
	}
	kind := strings.TrimPrefix(filepath.Ext(args[0]), ".")
	if len(args) > 1 {
		kind = args[1]
	}
	data := officetest.Sample(kind)
	if len(args) > 2 {
		data = officetest.Docx(args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}
