package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/windows/registry"
)

// environments are the keys from which Wine sets variables for each program that Linux
// starts, in place of those that it is given.
var environments = []struct {
	root registry.Key
	path string
}{
	{registry.CURRENT_USER, `Volatile Environment`},
	{registry.CURRENT_USER, `Environment`},
	{registry.LOCAL_MACHINE, `System\CurrentControlSet\Control\Session Manager\Environment`},
}

// stay removes the variables of a user from the registry, where Wine puts them when it
// starts, and says ok. Then it waits for the end of its input.
func stay() error {
	for _, e := range environments {
		key, err := registry.OpenKey(e.root, e.path, registry.SET_VALUE)
		if errors.Is(err, registry.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, name := range []string{"USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP"} {
			if e := key.DeleteValue(name); e != nil && !errors.Is(e, registry.ErrNotExist) {
				err = errors.Join(err, fmt.Errorf("%s: %w", name, e))
			}
		}
		if err := errors.Join(err, key.Close()); err != nil {
			return err
		}
	}
	fmt.Println("ok")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
