//go:build !windows

package main

import "errors"

func serve() error { return errors.New("this is no Windows") }
