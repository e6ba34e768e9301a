//go:build !windows

package main

import "errors"

var errNoWindows = errors.New("this is no Windows")

func serve() error { return errNoWindows }
func stay() error  { return errNoWindows }

func ctrlC(string, []string) error { return errNoWindows }
