package clients

import "slices"

// userSettings are the folders of the settings that editors keep for their user, beside the
// files of the table: those of configDir, which lie in other folders on other systems.
var userSettings = []string{"Code/User", "Code - Insiders/User", "VSCodium/User", "Cursor/User", "Windsurf/User", "zed", "Zed", "JetBrains"}

// Protected returns the absolute names of all files that fsmcp enters servers into, or reads
// for a client, and of the folders of editors' user settings: where the variables say, and
// where they would be without variables. dirs are the folders that are served.
func Protected(s UserFolders, dirs []string) (names []string) {
	if len(dirs) == 0 {
		dirs = []string{""}
	}
	for _, s := range []UserFolders{s, {OS: s.OS, Home: s.Home}} {
		for _, c := range table {
			for _, src := range c.Sources(s, dirs) {
				names = append(names, src.File)
			}
		}
		for _, folder := range userSettings {
			for _, base := range []place{{configDir, folder}, {appData, folder}, {homeDir, "Library/Application Support/" + folder}} {
				names = append(names, KnownClient{linux: base, darwin: base, windows: base}.file(s, ""))
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}
