//go:build !unix

package worker

import "syscall"

func apart() *syscall.SysProcAttr { return nil }
