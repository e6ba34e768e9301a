//go:build linux

package faults

import (
	"fmt"
	"image"
	"os"

	"github.com/pdfcpu/pdfcpu/pkg/api"
)

// playRole runs the program that a test starts this test binary as.
func playRole(role string, args []string) {
	switch role {
	case "naive":
		naiveWriter(args[0])
	case "cut":
		roleCut(args[0], args[1])
	case "record":
		roleRecord(args)
	case "naive-decoder":
		naiveDecoder(args[0])
	case "naive-reader":
		naiveReader(args[0])
	case "broken-server":
		if err := brokenServer(args, os.Getenv("FAULTS_BROKEN")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "map-writer":
		if err := mapWriter(args[0]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "no such role:", role)
		os.Exit(2)
	}
}

// naiveWriter writes a file in place again and again, as programs do that
// trust their luck, and says so after each time.
func naiveWriter(file string) {
	for gen := 0; ; gen++ {
		if os.WriteFile(file, content(gen, 4<<20), 0o666) != nil {
			os.Exit(1)
		}
		fmt.Println(gen)
	}
}

// naiveDecoder decodes an image where it is, as a server without workers would.
func naiveDecoder(file string) {
	f, err := os.Open(file)
	if err == nil {
		_, _, err = image.Decode(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// naiveReader unpacks a PDF where it is, likewise.
func naiveReader(file string) {
	api.DisableConfigDir()
	dir, err := os.MkdirTemp("", "naive")
	if err == nil {
		defer os.RemoveAll(dir)
		err = api.ExtractContentFile(file, dir, nil, nil)
	}
	if err != nil {
		fmt.Println(err)
	}
}
