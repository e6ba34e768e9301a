package phrase

import "strings"

// Guarded returns a sentence on what guards a folder of the user's home, beside its modes,
// against programs that the system does not know, and how to let fsmcp in; "" for a folder that
// is not guarded.
func Guarded(system, folder string) string {
	folder = strings.ToLower(folder)
	documents := folder == "documents" || folder == "desktop" || folder == "downloads" || strings.HasPrefix(folder, "onedrive")
	switch {
	case documents && system == "windows":
		return "Controlled Folder Access guards this folder: allow fsmcp.exe in Windows Security, Virus & threat protection, Ransomware protection."
	case (documents || folder == "library") && system == "darwin":
		return "macOS guards this folder: allow the client that starts fsmcp in System Settings, Privacy & Security, Files and Folders."
	}
	return ""
}

// GuardedFile is Guarded for the folder below a home that a file lies in, by its absolute name:
// homes are in C:\Users and in /Users.
func GuardedFile(system, name string) string {
	parts := strings.FieldsFunc(name, func(c rune) bool { return c == '/' || c == '\\' && system == "windows" })
	if system == "windows" && len(parts) > 0 && strings.HasSuffix(parts[0], ":") {
		parts = parts[1:]
	}
	if len(parts) < 4 || !strings.EqualFold(parts[0], "users") {
		return ""
	}
	return Guarded(system, parts[2])
}
