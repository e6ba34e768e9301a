// Package notebook shows the cells and outputs of Jupyter notebooks, and edits a cell by
// splices on the file's bytes, so that a diff shows that cell alone. It reads no disk and
// no clock; random bytes come from a reader that the caller passes.
//
// It promises:
//   - A file that parses is valid JSON in UTF-8 and has the shape of a notebook.
//   - Every offset counts bytes of the file.
//   - An edit changes no byte outside its splices. Its result is a notebook, and valid where
//     the old one was.
//   - Deleting a cell that was just inserted restores the old bytes.
//   - Reading, editing, and showing with a MaxText of at most the file's size each allocate
//     less than ten times the file, whatever it contains.
//
// One pass checks the file and stores the places of cells and their fields. Everything else
// is looked up on demand, so memory grows with the cells and the text shown.
//
// It does not validate against the format's schema, does not decode pictures (it checks
// their base64 and first bytes), does not decide what may be shown or changed, and stores
// nothing between calls.
//
// Of equal keys the last one counts, as in the programs that write notebooks. NaN and
// Infinity are not JSON. A lone surrogate, which JSON can spell and UTF-8 cannot, reads as
// U+FFFD and stays in the file until its line is replaced.
//
// jsontext checks the file. Afterwards package scan finds values in the checked bytes: with
// jsontext that takes 1.3 ms in place of 0.6 ms for 100 cells, and 48 ms in place of 2 ms
// for 20 MB with pictures. It decodes strings three times as fast, and counts lone
// surrogates. gjson v1.20.0 was rejected: it gives no offset of an error, has no limit of
// the nesting, and loses the character after a lone surrogate.
package notebook
