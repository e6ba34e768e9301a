package owndir

import (
	"strings"
	"testing"
)

func TestForeign(t *testing.T) {
	const me, other, everyone, users = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002", "S-1-1-0", "S-1-5-32-545"
	const full = 0x1f01ff
	const readExecute = 0x1200a9
	mine := append([]string{me}, powerful...)
	app := ace{"S-1-15-2-1-2-3-4-5-6-7", full}
	for _, row := range []struct {
		owner  string
		list   []ace
		rights uint32
		want   string
	}{
		{me, []ace{{me, full}, {"S-1-5-18", full}, {"S-1-5-32-544", full}, app}, writeRights, ""},
		{me, nil, writeRights, ""},
		{"S-1-5-32-544", []ace{{me, full}}, writeRights, ""},
		{me, []ace{{everyone, readExecute}, {users, readExecute}}, writeRights, ""},
		{me, []ace{{everyone, readExecute}}, writeRights | readRights, "is open to other users"},
		{me, []ace{{everyone, full}}, writeRights, "may be written by other users, S-1-1-0"},
		{me, []ace{{users, appendData}}, writeRights, "may be written"},
		{me, []ace{{users, writeData}}, replaceRights, ""},
		{me, []ace{{users, deleteIn}}, replaceRights, "may be written"},
		{me, []ace{{other, writeDAC}}, writeRights, "may be written"},
		{me, []ace{{other, 0x4000_0000}}, writeRights, "may be written"},
		{me, []ace{{"S-1-3-4", full}}, writeRights, ""},
		{me, []ace{{"S-1-15-2-1", full}}, writeRights, "may be written"}, // all packages
		{other, nil, writeRights, "belongs to another user, " + other},
		{users, nil, writeRights, "belongs to another user"},
		{"", nil, writeRights, "belongs to another user"},
	} {
		if got := foreign(row.owner, row.list, mine, row.rights); !strings.HasPrefix(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%+v: %q", row, got)
		}
	}
}
