package settings

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"testing"
)

// TestSettingsPage compares the lists of docs/settings.md with the schema and with the
// table of keys: which keys there are, their defaults, and what a project's file may set.
func TestSettingsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	schema := make(map[string]node)
	flatten("", readSchema(t), schema)
	project := map[string]string{
		keyDeny: "yes", keyAsk: "yes", keyAllow: "with trust", keyDirectories: "with trust", keyMode: "lower",
		keyTokensAPI.path + ".url": "never", keyTokensAPI.path + ".key": "never", keyTokensAPI.path + ".model": "never",
	}
	for _, k := range keys() {
		project[k.path] = map[setBy]string{anyone: "yes", lower: "lower", trusted: "with trust", userOnly: "never"}[k.setBy]
	}
	rows := regexp.MustCompile("(?m)^- `([a-zA-Z.]+)` \\((?:`(.*?)`|–), ([a-z ]+)\\): (.+)$").FindAllStringSubmatch(string(page), -1)
	described := make(map[string]bool)
	for _, row := range rows {
		key, value, may, meaning := row[1], row[2], row[3], row[4]
		n, ok := schema[key]
		if !ok || n.Properties != nil && key != keyTokensAPI.path {
			t.Errorf("the page has %s, which is no setting", key)
			continue
		}
		if described[key] {
			t.Errorf("the page has %s twice", key)
		}
		described[key] = true
		if len(meaning) < 10 {
			t.Errorf("the page does not explain %s", key)
		}
		if may != project[key] {
			t.Errorf("%s: the page says %q of a project's file, not %q", key, may, project[key])
		}
		if value == "null" && n.Default == nil { // null, as the schema has it, is decoded as no default
			continue
		}
		if (n.Default == nil) != (value == "") {
			t.Errorf("%s: the page has the default %q", key, value)
		} else if value != "" && !sameJSON(t, value, string(*n.Default)) {
			t.Errorf("%s: the page has the default %s, the schema %s", key, value, *n.Default)
		}
	}
	for key, n := range schema {
		if group := n.Properties != nil && key != keyTokensAPI.path; !group && !described[key] && key != keySchema {
			t.Errorf("the page lacks %s", key)
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Errorf("%s: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Errorf("%s: %v", b, err)
	}
	return reflect.DeepEqual(x, y)
}
