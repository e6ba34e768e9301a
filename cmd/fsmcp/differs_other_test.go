//go:build unix && (!linux || fsys_portable)

package main

// differs names the scripts that promise what only the files for Linux keep, with what
// happens instead. With -tags fsys_portable Linux tries out the files of other systems;
// docs/platforms.md tells the same to users.
var differs = map[string]string{
	"config_write_into_a_folder_that_refuses":       "the reason of a refused save has other words",
	"notebook_edit_order_of_the_checks":             "a file that another program holds open is not busy",
	"settings_keep_hard_links":                      "no file is written in place",
	"stuck_held_open_is_busy":                       "a file that another program holds open is not busy",
	"write_file_of_another_owner":                   "no file is written in place, so the edit is refused",
	"write_forged_journal_in_temp_is_not_replayed":  "there is no journal",
	"write_in_place_needs_the_state_folder":         "no file is written in place",
	"write_read_only_folder":                        "no file is written in place, so the edit is refused",
	"write_state_of_another_user_is_not_used":       "there is no journal",
	"write_state_that_others_can_write_is_not_used": "there is no journal",
}
