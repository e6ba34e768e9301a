//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// browsed is a workspace whose history a browser shows.
type browsed struct {
	*chromium
	dir string
	env []string
	cmd *exec.Cmd // fsmcp history open
}

// fsmcp returns a command of the program.
func (b *browsed) fsmcp(words ...string) *exec.Cmd {
	b.Helper()
	cmd := exec.Command(program, words...)
	cmd.Args[0], cmd.Dir, cmd.Env, cmd.Stderr = "fsmcp", b.dir, b.env, os.Stderr
	return cmd
}

// tool calls tools, each with its arguments as JSON.
func (b *browsed) tool(words ...string) {
	b.Helper()
	if out, err := b.fsmcp(append([]string{"call", "--tools", "all"}, words...)...).Output(); err != nil {
		b.Fatalf("%q: %v\n%s", words, err, out)
	}
}

func (b *browsed) put(name, content string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *browsed) text(name string) string {
	text, _ := os.ReadFile(filepath.Join(b.dir, name))
	return string(text)
}

// newBrowsed makes changes of each kind, and opens their history.
func newBrowsed(t *testing.T) *browsed {
	b := &browsed{chromium: newChromium(t), dir: t.TempDir()}
	b.env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "CLAUDE_PROJECT_DIR=", "CLAUDE_CONFIG_DIR=", "FSMCP_DURABILITY=none")
	b.put("report.md", "# Report\n\nTwelve new customers signed, two left.\n\n| month | income |\n|---|---|\n| March | 15,200 |\n")
	b.put(hostileName, "<script>document.title='hacked'</script>\nold\n")
	b.put("a.svg", "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(2)</script><circle r='10'/></svg>\n")
	b.put("n.ipynb", `{"cells":[{"cell_type":"markdown","id":"one","metadata":{},"source":"# Title"},{"cell_type":"code","id":"two","metadata":{},"execution_count":1,"outputs":[{"output_type":"stream","name":"stdout","text":"<b>4</b>\n"}],"source":"2 * 2"}],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	picture := image.NewRGBA(image.Rect(0, 0, 120, 80))
	for i := range 120 {
		picture.Set(i, i*2/3, color.RGBA{0, 90, 200, 255})
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		t.Fatal(err)
	}
	b.put("chart.png", encoded.String())
	b.tool(
		"Read", "file_path=report.md", "Edit", `{"file_path":"report.md","old_string":"two left","new_string":"one left"}`,
		"Read", "file_path="+hostileName, "Edit", `{"file_path":"`+hostileName+`","old_string":"old","new_string":"new <img src=x onerror=alert(3)> \u202eabc"}`,
		"Read", "file_path=a.svg", "Edit", `{"file_path":"a.svg","old_string":"10","new_string":"20"}`,
		"Read", "file_path=n.ipynb", "NotebookEdit", `{"notebook_path":"n.ipynb","cell_id":"two","new_source":"2 * 3"}`,
		"Delete", `{"paths":["chart.png"]}`,
	)
	b.cmd = b.fsmcp("history", "open", "--no-browser")
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.cmd.Process.Kill(); b.cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, _ := strings.Cut(strings.TrimSpace(line), " at ")
	if err != nil || address == "" {
		t.Fatalf("%q: %v", line, err)
	}
	b.width(1200, "light")
	b.navigate(address)
	b.await(`document.querySelectorAll('#list li').length === 5 && document.querySelector('#detail p')`)
	return b
}

const hostileName = "<img src=x onerror=alert(1)>.html"

// choose shows the change of a file, by a click.
func (b *browsed) choose(name string) {
	b.Helper()
	b.eval(`[...document.querySelectorAll('#list h3')].find(h => h.firstChild.data === ` + fmt.Sprintf("%q", name) + `).nextSibling.querySelector('a').click()`)
	b.await(`document.querySelector('#detail h2')?.textContent === ` + fmt.Sprintf("%q", name))
}

// TestHistoryInABrowser goes through the page as a user does, in a real Chromium.
func TestHistoryInABrowser(t *testing.T) {
	shortrun.Leave(t, "the history in a real browser")
	b := newBrowsed(t)
	if at := b.eval(`location.href`); strings.Contains(at, "token") || !strings.HasPrefix(at, "http://127.0.0.1:") {
		t.Errorf("the address stays %s", at)
	}
	b.want(`document.cookie`, "") // no script can read it
	b.picture("list-1200-light")
	for name, want := range map[string]string{
		"report.md": `−3+3`, hostileName: `−2+2`, "a.svg": `−1+1`,
	} {
		b.choose(name)
		b.want(`[...document.querySelectorAll('#detail td.was.number, #detail td.is.number')].map(e => e.textContent.replace(' ', '')).join('')`, want)
	}
	b.choose(hostileName)
	b.want(`document.querySelector('#detail td.text.is').textContent`, "new <img src=x onerror=alert(3)> ⟨U+202E⟩abc")
	b.want(`document.querySelectorAll('img, script:not([src]), #detail svg').length`, "0")
	b.want(`document.title`, "History of your files")
	b.choose("n.ipynb")
	b.want(`[...document.querySelectorAll('#detail .cell')].map(e => e.textContent.slice(0, 28)).join('|')`, "1 cell is the same|Cell two (code) was changedB")
	b.picture("notebook-1200-light")
	b.choose("chart.png")
	b.await(`document.querySelector('#detail figure img')?.complete`)
	b.want(`document.querySelector('#detail figure img').naturalWidth`, "120")
	b.picture("picture-1200-light")
	b.takeBack()
	b.want(rowsAgree(), "")
	for _, width := range []int{1200, 400} {
		for _, colours := range []string{"light", "dark"} {
			b.width(width, colours)
			b.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
			b.picture(fmt.Sprintf("preview-%d-%s", width, colours))
		}
	}
	b.search()
	b.faultless()
	b.navigate("about:blank")
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("when the page was closed: %v", err)
	}
}

// takeBack takes a change back by the keyboard alone: it is shown first.
func (b *browsed) takeBack() {
	b.Helper()
	b.put("report.md", strings.Replace(b.text("report.md"), "15,200", "16,050", 1))
	b.eval(`document.querySelector('#words').focus()`)
	before := b.text("report.md")
	b.tabTo(`document.activeElement.closest('ul')?.previousSibling.firstChild.data === 'report.md'`)
	b.key("Enter")
	b.await(`document.querySelector('#detail h2')?.textContent === 'report.md' && document.activeElement.matches('h2')`)
	b.tabTo(`document.activeElement.textContent.startsWith('Take back')`)
	b.want(`getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth`, "solid3px")
	b.key("Enter")
	b.await(`document.querySelector('.preview') && document.activeElement.matches('.preview h3')`)
	b.want(`[...document.querySelectorAll('.preview td.text.was, .preview td.text.is')].map(e => e.textContent).join('|')`,
		"Twelve new customers signed, one left.|Twelve new customers signed, two left.")
	b.want(`[...document.querySelectorAll('.preview mark')].map(e => e.textContent).join('|')`, "one|two")
	if b.text("report.md") != before {
		b.Error("the first click changed the file")
	}
	b.picture("preview-1200-light")
	b.tabTo(`document.activeElement.textContent === 'Take it back now'`)
	b.key("Enter")
	b.await(`document.querySelector('#notice').textContent.includes('no longer in it')`)
	b.await(`document.querySelectorAll('#list li').length === 6 && document.activeElement.matches('h2')`)
	if got, want := b.text("report.md"), strings.Replace(before, "one left", "two left", 1); got != want {
		b.Errorf("the file holds %q, not %q", got, want)
	}
	b.eval(`document.querySelector('#detail button').click()`)
	b.await(`document.querySelector('.preview')`)
	b.want(`document.querySelector('.preview h3').textContent`, "There is nothing to take back")
}

// tabTo presses Tab until an expression is true.
func (b *browsed) tabTo(expression string) {
	b.Helper()
	for range 40 {
		b.key("Tab")
		if b.eval(expression) == "true" {
			return
		}
	}
	b.Fatalf("Tab does not lead to %s", expression)
}

// search finds a change by a word that it removed.
func (b *browsed) search() {
	b.Helper()
	b.width(400, "light")
	b.eval(`location.hash = ''`)
	b.await(`document.querySelector('main').className === ''`)
	b.picture("list-400-light")
	b.eval(`document.querySelector('#words').focus()`)
	b.call("Input.insertText", map[string]any{"text": "CUSTOMERS"}, nil)
	b.await(`document.querySelector('#list p')?.textContent === '2 changes found.'`)
	b.want(`[...document.querySelectorAll('#list code')].map(e => e.textContent).sort().join('|')`,
		"Twelve new customers signed, one left.|Twelve new customers signed, two left.")
	b.picture("search-400-light")
}

// rowsAgree is an expression that is "" if the page's rows of diffs have every line of both texts
// that differs, at its number. The diffs are of the program, of generated texts.
func rowsAgree() string {
	type sample struct {
		Old, Now []string
		Diff     string
	}
	var samples []sample
	for i := range 60 {
		s := sample{}
		for n := range 12 + i%5 {
			line := fmt.Sprint("line ", n)
			if (n*7+i)%5 != 0 {
				s.Old = append(s.Old, line)
			}
			if (n*3+i)%7 != 0 {
				s.Now = append(s.Now, strings.Replace(line, " "+fmt.Sprint(i%9), "-- x", 1))
			}
		}
		diff := changes.Patch("", "", strings.Join(s.Old, "\n")+"\n", strings.Join(s.Now, "\n")+"\n")
		s.Diff = strings.TrimPrefix(diff, "--- \n+++ \n")
		samples = append(samples, s)
	}
	text, _ := json.Marshal(samples)
	return `(() => { for (const s of ` + string(text) + `) {
		const rows = rowsOf(s.Diff), left = new Set(), right = new Set()
		for (const r of rows) {
			if (r.left) { left.add(r.left.n); if (s.Old[r.left.n - 1] !== r.left.text) return 'left ' + JSON.stringify([s, r]) }
			if (r.right) { right.add(r.right.n); if (s.Now[r.right.n - 1] !== r.right.text) return 'right ' + JSON.stringify([s, r]) }
		}
		const rest = (lines, seen) => lines.filter((_, i) => !seen.has(i + 1)).join('|')
		if (rest(s.Old, left) !== rest(s.Now, right)) return 'missing ' + JSON.stringify(s)
	} return '' })()`
}
