// Package notebook parses Jupyter notebooks. It keeps the place of every cell and of its
// fields in the bytes, and finds cells by name. Package render shows cells, and package
// rewrite edits them. None of them reads a disk or a clock.
//
// A file that parses is valid JSON in UTF-8 and has the shape of a notebook. Every offset
// counts bytes of the file. Parsing allocates less than ten times the file, whatever it
// contains: memory grows with the cells, and all other values are looked up on demand.
//
// The package does not validate against the format's schema, and stores nothing between
// calls.
//
// Of equal keys the last one counts, as in the programs that write notebooks. NaN and
// Infinity are not JSON. A lone surrogate, which JSON can spell and UTF-8 cannot, reads as
// U+FFFD and stays in the file until its line is replaced.
//
// jsontext checks the file, and package scan finds the values in the checked bytes. gjson
// v1.20.0 was rejected: it gives no offset of an error, has no limit of the nesting, and
// loses the character after a lone surrogate.
package notebook
