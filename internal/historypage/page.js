'use strict'
const $ = id => document.getElementById(id)

// make makes an element. Texts become text nodes: nothing of a file is ever read as HTML.
function make(tag, attributes, ...children) {
  const e = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value)
    else e.setAttribute(name, value)
  }
  e.append(...children.filter(c => c !== ''))
  return e
}

// shown spells characters that show nothing, or change the order of others.
const hidden = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g
const shown = s => s.replace(hidden, c => '⟨U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '⟩')

const say = text => { $('notice').textContent = text }

async function ask(path, query, method = 'GET') {
  const answer = await fetch(path + '?' + new URLSearchParams(query), { method, headers: { 'X-Fsmcp': '1' } }).catch(ended)
  if (!answer) throw new Error('')
  const object = answer.headers.get('Content-Type') === 'application/json' ? await answer.json() : { error: await answer.text() }
  if (object.error) throw new Error(object.error)
  return object
}

// The program ends when this stream does.
const stream = new EventSource('/events')
let lost
stream.onopen = () => clearTimeout(lost)
stream.onerror = () => { clearTimeout(lost); lost = setTimeout(ended, 5000) }
function ended() {
  stream.close()
  say('The program behind this page has ended. To go on, run “fsmcp history open” again.')
  for (const b of document.querySelectorAll('button, input')) b.disabled = true
}

const day = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
function dayName(time) {
  const name = day.format(time).replace(',', ''), now = new Date(), before = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1)
  return day.format(time) === day.format(now) ? 'Today, ' + name : day.format(time) === day.format(before) ? 'Yesterday, ' + name : name
}
const count = (n, one, many) => n === 1 ? '1 ' + one : n + ' ' + many
const what = c => c.what || 'changed'
const by = c => c.tool === 'restore' ? ', taken back from the history' : c.tool === 'hook' ? ' by a hook' : c.tool === 'outside' ? ' by another program' : ' by ' + c.tool

// The list.
let changes = [], part = {}, asked = 0
async function load(more) {
  const turn = ++asked, words = $('words').value.trim()
  try {
    const answer = await ask('/api/changes', { q: words, all: $('all').checked ? '1' : '', after: more ? part.next : '' })
    if (turn !== asked) return
    if (more) answer.denied += part.denied
    changes = more ? changes.concat(answer.changes) : answer.changes
    part = answer
    showList(words)
  } catch (e) {
    if (e.message && turn === asked) say(e.message)
  }
}

function showList(words) {
  $('where').textContent = part.folder ? 'Changes in ' + part.folder : 'Changes in all folders'
  const all = []
  for (const [name, ofDay] of Map.groupBy(changes, c => dayName(c.time))) {
    all.push(make('h2', {}, name))
    for (const [path, list] of Map.groupBy(ofDay, c => c.path)) {
      all.push(make('h3', {}, list[0].name, make('span', { class: 'quiet' }, path.slice(0, path.length - list[0].name.length))), make('ul', {}, ...list.map(entry)))
    }
  }
  if (!changes.length) {
    const none = words ? 'No change has these words in its name or in a changed line.' : part.folder ? 'Nothing was changed in this folder. Tick “All folders” to see the changes in others.' : 'Nothing has been changed yet.'
    all.push(make('p', {}, part.next ? 'Nothing so far.' : none))
  } else if (words) all.push(make('p', { class: 'quiet' }, count(changes.length, 'change', 'changes') + ' found' + (part.next ? ' so far.' : '.')))
  if (part.next) all.push(make('button', { onclick: () => load(true) }, words ? 'Search older changes' : 'Show older changes'))
  if (part.denied) all.push(make('p', { class: 'quiet' }, count(part.denied, 'change is', 'changes are') + ' not shown: the rules deny the file.'))
  if (part.damaged) all.push(make('p', { class: 'quiet' }, 'A part of the history is damaged and left out.'))
  $('list').replaceChildren(...all)
  choose()
}

function entry(c) {
  return make('li', {}, make('a', { href: '#' + c.id }, make('time', { datetime: new Date(c.time).toISOString() }, clock.format(c.time).slice(0, 5)),
    make('span', {}, what(c), c.hit ? make('code', {}, shown(c.hit)) : '')))
}

const chosen = () => decodeURIComponent(location.hash.slice(1))
function choose() {
  for (const a of $('list').querySelectorAll('a')) a.setAttribute('aria-current', a.hash === location.hash)
  document.querySelector('main').classList.toggle('chosen', chosen() !== '')
}

// One change.
async function show() {
  choose()
  const id = chosen(), back = make('a', { class: 'back', href: '#' }, '← All changes')
  if (!id) return $('detail').replaceChildren(make('p', { class: 'quiet' }, 'Choose a change to see what it did.'))
  try {
    const answer = await ask('/api/change', { id })
    if (id !== chosen()) return
    const c = answer.change, preview = make('div', { class: 'place' })
    const button = (label, group) => make('button', { onclick: e => look(e.currentTarget, preview, { id, group }) }, label)
    $('detail').replaceChildren(back, make('h2', { tabindex: '-1' }, c.name), make('p', { class: 'quiet' }, c.path),
      make('p', {}, what(c)[0].toUpperCase() + what(c).slice(1) + by(c) + '. ' + dayName(c.time) + ', ' + clock.format(c.time)),
      make('div', { class: 'buttons' }, button('Take back …', ''), answer.group > 1 ? button('Take back all ' + answer.group + ' changes of this call …', '1') : ''),
      preview, make('h3', {}, 'What it changed'), ...views(answer.view))
  } catch (e) {
    if (e.message) $('detail').replaceChildren(back, make('p', {}, e.message))
  }
  $('detail').querySelector('h2, p').focus({ preventScroll: true })
  scrollTo(0, 0)
}

// look shows what to take a change back would do; the second click is in what it shows.
async function look(button, place, what) {
  say('')
  button.disabled = true
  const close = make('button', { onclick: () => { place.replaceChildren(); button.focus() } }, 'Cancel')
  const answer = await ask('/api/preview', what, 'POST').catch(e => ({ steps: [], error: e.message }))
  const go = answer.key ? make('button', { class: 'main', onclick: () => takeBack(go, close, answer.key) }, 'Take it back now') : ''
  const title = answer.error ? 'It cannot be taken back' : answer.key ? 'Taking it back would do this' : 'There is nothing to take back'
  const steps = answer.steps.map(s => make('div', { class: 'step' }, make('p', {}, make('strong', {}, s.path)), make('p', {}, s.text), ...views(s.view, 'Now', 'Then')))
  button.disabled = false
  place.replaceChildren(make('div', { class: 'preview', role: 'group', 'aria-label': 'Take back' },
    make('h3', { tabindex: '-1' }, title), make('p', {}, answer.error || ''), ...steps, make('div', { class: 'buttons' }, go, close)))
  place.querySelector('h3').focus()
}

async function takeBack(go, close, key) {
  go.disabled = close.disabled = true
  const text = await ask('/api/restore', { key }, 'POST').then(answer => answer.text, e => e.message)
  if (text) say(text)
  await load()
  await show()
}

// Views: texts side by side, pictures, cells.
function views(v, before = 'Before', after = 'After') {
  return [v.note ? make('p', {}, v.note) : '', v.diff ? table(v.diff, before, after) : '', v.pictures ? images(v.pictures, before, after) : '',
    ...(v.cells || []).map(c => cell(c, before, after))].filter(e => e !== '')
}

// rowsOf reads a unified diff: rows of a line before and one after, either of which may be missing.
function rowsOf(diff) {
  const rows = [], gone = [], come = []
  let a = 1, b = 1, restA = 0, restB = 0, last
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) rows.push({ left: gone[i], right: come[i] })
    gone.length = come.length = 0
  }
  for (const l of diff.split(/\r?\n/)) {
    const place = restA + restB === 0 && /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(l)
    if (place) {
      flush()
      const [, startA, lengthA = '1', startB, lengthB = '1'] = place, from = +startA + (lengthA === '0')
      if (from > a) rows.push({ note: count(from - a, 'line is', 'lines are') + ' the same' })
      a = from; b = +startB + (lengthB === '0'); restA = +lengthA; restB = +lengthB
    } else if (l[0] === '\\') {
      if (l.startsWith('\\ No newline')) for (const side of [last, last.same]) { if (side) side.text += ' ⟨no line end⟩' }
      else rows.push({ note: l.slice(2) })
    } else if (restA + restB > 0) {
      if (l[0] === ' ' || l[0] === '-' && come.length) flush()
      if (l[0] !== '+') { restA--; last = { n: a++, text: l.slice(1) } }
      if (l[0] === '-') gone.push(last)
      if (l[0] !== '-') { restB--; last = { n: b++, text: l.slice(1), same: l[0] === ' ' && last } }
      if (l[0] === '+') come.push(last)
      if (l[0] === ' ') rows.push({ left: last.same, right: last, same: true })
    } else if (l.startsWith('+++ ')) { rows.push({ note: l.slice(4) }); a = 1e9 }
  }
  flush()
  return rows
}

function table(diff, before, after) {
  const rows = rowsOf(diff), one = ['left', 'right'].some(side => rows.every(r => !r[side]))
  const heads = [before, after].map(name => make('th', { colspan: 2, scope: 'colgroup' }, name))
  return make('table', { class: one ? 'diff one' : 'diff' }, make('colgroup', {}, ...'ntnt'.split('').map(c => make('col', { class: c }))),
    make('thead', {}, make('tr', {}, ...heads)), make('tbody', {}, ...rows.map(line)))
}

function line(r) {
  if (r.note) return make('tr', { class: 'note' }, make('td', { colspan: 4 }, r.note))
  const kind = r.same ? 'same' : r.left && r.right ? 'changed' : r.left ? 'removed' : 'added'
  const parts = kind === 'changed' ? marked(shown(r.left.text), shown(r.right.text)) : [r.left, r.right].map(l => [l ? shown(l.text) : ''])
  const side = (l, text, sign, name) => l ? [make('td', { class: 'number' + name }, (r.same ? '' : sign + ' ') + l.n), make('td', { class: 'text' + name }, ...text)] : [make('td', { class: 'none' }), make('td', { class: 'none' })]
  return make('tr', { class: kind }, ...side(r.left, parts[0], '−', r.same ? '' : ' was'), ...side(r.right, parts[1], '+', r.same ? '' : ' is'))
}

// marked marks what differs between two lines.
function marked(left, right) {
  if (left === right) right += ' ⟨another line end⟩'
  const a = [...left], b = [...right], most = Math.min(a.length, b.length)
  let head = 0, tail = 0
  while (head < most && a[head] === b[head]) head++
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const text = (s, from, to) => s.slice(from, to).join('')
  const parts = s => [text(s, 0, head), s.length > head + tail ? make('mark', {}, text(s, head, s.length - tail)) : '', text(s, s.length - tail)]
  return head + tail ? [parts(a), parts(b)] : [[left], [right]]
}

function images(p, before, after) {
  const side = (keys, name) => make('figure', {}, make('figcaption', {}, name), ...(keys || []).map(key => make('img', { src: '/picture/' + key, alt: 'The picture: ' + name.toLowerCase() })), keys ? '' : make('p', { class: 'quiet' }, 'There is no picture.'))
  return make('div', { class: 'pictures' }, side(p[0], before), side(p[1], after))
}

function cell(c, before, after) {
  if (c.kind === 'same') return make('p', { class: 'quiet cell' }, count(c.n, 'cell is', 'cells are') + ' the same')
  return make('div', { class: 'cell ' + c.kind }, make('h4', {}, 'Cell ' + c.name + ' (' + c.type + ') was ' + c.kind), c.source ? table(c.source, before, after) : '',
    c.outputs ? make('h4', {}, 'Output') : '', c.outputs ? table(c.outputs, before, after) : '', c.pictures ? images(c.pictures, before, after) : '')
}

let typing
$('find').addEventListener('submit', e => { e.preventDefault(); load() })
$('words').addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(load, 250) })
$('all').addEventListener('change', () => load())
addEventListener('hashchange', show)
document.addEventListener('visibilitychange', () => { if (!document.hidden) load() })
const narrow = matchMedia('(max-width: 1000px)'), fit = () => document.body.classList.toggle('narrow', narrow.matches)
narrow.addEventListener('change', fit)
fit()
load().then(show)
