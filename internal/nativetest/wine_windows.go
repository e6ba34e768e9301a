package nativetest

import "golang.org/x/sys/windows"

// Wine reports whether the tests run under Wine.
func Wine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
