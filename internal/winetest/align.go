//go:build linux

package winetest

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"fmt"
)

// A page of memory, and the size of a header of a section in a program for Windows.
const (
	pageSize          = 4096
	sectionHeaderSize = 40
)

// Offsets in the headers of a program for Windows of 64 bits:
// https://learn.microsoft.com/windows/win32/debug/pe-format
const (
	peHeaderAt      = 0x3c // in the file: where the signature is, of 4 bytes
	fileHeaderSize  = 20
	symbolsAt       = 8  // in the file header: offset and number of the symbols
	optionalSizeAt  = 16 // in the file header
	fileAlignmentAt = 36 // in the optional header
	sizeOfHeadersAt = 60 // in the optional header
	rawSizeAt       = 16 // in the header of a section: its size in the file, then where it begins
)

// alignSections returns the program for Windows with its sections at whole pages of the file.
// Windows maps the pages that a program uses, wherever the sections lie. Wine maps only sections
// at whole pages, and at each start reads the others into memory: fsmcp of 17 MB, as go build
// makes it, took 197 ms to start, and 130 like this. Nothing else changes, but that the symbols
// at the end are left out, which Windows does not load.
func alignSections(program []byte) ([]byte, error) {
	f, err := pe.NewFile(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	if _, ok := f.OptionalHeader.(*pe.OptionalHeader64); !ok {
		return nil, fmt.Errorf("no program of 64 bits")
	}
	le := binary.LittleEndian
	fileHeader := int(le.Uint32(program[peHeaderAt:])) + 4
	optional := fileHeader + fileHeaderSize
	sections := optional + int(le.Uint16(program[fileHeader+optionalSizeAt:]))
	out := padded(bytes.Clone(program[:sections+len(f.Sections)*sectionHeaderSize]))
	clear(out[fileHeader+symbolsAt:][:8])
	le.PutUint32(out[optional+fileAlignmentAt:], pageSize)
	le.PutUint32(out[optional+sizeOfHeadersAt:], uint32(len(out)))
	for i, s := range f.Sections {
		if s.Offset == 0 || s.Size == 0 {
			continue
		}
		begin, header := len(out), sections+i*sectionHeaderSize
		out = padded(append(out, program[s.Offset:s.Offset+s.Size]...))
		le.PutUint32(out[header+rawSizeAt:], uint32(len(out)-begin))
		le.PutUint32(out[header+rawSizeAt+4:], uint32(begin))
	}
	return out, nil
}

// padded returns the bytes with zeros up to a whole page.
func padded(b []byte) []byte { return append(b, make([]byte, -len(b)&(pageSize-1))...) }
