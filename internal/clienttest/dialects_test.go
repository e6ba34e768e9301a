//go:build linux

package clienttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object to be sent.
type object = map[string]any

// dataURL reads an image from a data URL.
func dataURL(s string) (picture, error) {
	mime, data, ok := strings.Cut(strings.TrimPrefix(s, "data:"), ";base64,")
	if !ok {
		return picture{}, fmt.Errorf("no data URL: %.80s", s)
	}
	return base64Picture(mime, data)
}

func base64Picture(mime, data string) (picture, error) {
	b, err := base64.StdEncoding.DecodeString(data)
	return picture{mime, b}, err
}

// addText puts text behind what the latest result has.
func (r *request) addText(s string) { r.results[len(r.results)-1].text += s }

// addPicture gives the latest result a picture; clients send pictures behind a result.
func (r *request) addPicture(p picture, err error) error {
	if err != nil {
		return err
	}
	if len(r.results) == 0 {
		return fmt.Errorf("a picture before the first result")
	}
	last := &r.results[len(r.results)-1]
	last.pictures = append(last.pictures, p)
	return nil
}

// responses is OpenAI's API of that name.
type responses struct{}

func (responses) parse(body []byte) (r request, err error) {
	var in struct {
		Input []struct {
			Type   string
			Output json.RawMessage
			Tools  []responsesTool
		}
		Tools []responsesTool
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	r.offer(in.Tools)
	for _, item := range in.Input {
		r.offer(item.Tools) // what a search has found
		if item.Type != "function_call_output" && item.Type != "custom_tool_call_output" {
			continue
		}
		r.results = append(r.results, result{})
		var text string
		if json.Unmarshal(item.Output, &text) == nil {
			r.addText(text)
			continue
		}
		var parts []struct {
			Type, Text string
			URL        string `json:"image_url"`
		}
		if err := json.Unmarshal(item.Output, &parts); err != nil {
			return r, err
		}
		for _, p := range parts {
			switch p.Type {
			case "input_text":
				r.addText(p.Text)
			case "input_image":
				if err := r.addPicture(dataURL(p.URL)); err != nil {
					return r, err
				}
			default:
				return r, fmt.Errorf("a part of type %s", p.Type)
			}
		}
	}
	return r, nil
}

// inScript is the namespace of tools that are called by JavaScript, which the client runs:
// a request with that names no tool, but those of the client itself.
const inScript = "script "

// responsesTool is a tool, or a namespace with tools.
type responsesTool struct {
	Type, Name string
	Tools      []struct{ Name string }
}

func (r *request) offer(tools []responsesTool) {
	for _, t := range tools {
		r.search = r.search || t.Type == "tool_search"
		if t.Type == "function" {
			r.offered = append(r.offered, tool{"", t.Name})
		}
		for _, inner := range t.Tools {
			r.offered = append(r.offered, tool{t.Name, inner.Name})
			if t.Name == "functions" && inner.Name == "exec" {
				for _, name := range []string{"Read", "Write", "Edit", "NotebookEdit"} {
					r.offered = append(r.offered, tool{inScript, "mcp__fsmcp__" + name})
				}
			}
		}
	}
}

func (d responses) search(words string) []event {
	return d.events(object{"type": "tool_search_call", "call_id": "search_1", "execution": "client", "arguments": object{"query": words, "limit": 8}})
}

func (responses) events(item object) []event {
	return []event{
		{"response.created", object{"type": "response.created", "response": object{"id": "resp_1"}}},
		{"response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item}},
		{"response.completed", object{"type": "response.completed", "response": object{
			"id": "resp_1", "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}}},
	}
}

func (d responses) call(id string, t tool, arguments string) []event {
	if t.namespace == inScript {
		return d.events(object{"type": "custom_tool_call", "call_id": id, "name": "exec", "input": `const result = await tools.` + t.name + `(` + arguments + `);
for (const block of result.content) {
  if (block.type === "text") text(block.text); else image(block);
}`})
	}
	item := object{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": t.name, "arguments": arguments}
	if t.namespace != "" {
		item["namespace"] = t.namespace
	}
	return d.events(item)
}

func (d responses) say(text string) []event {
	return d.events(object{"type": "message", "id": "msg_1", "role": "assistant", "content": []object{{"type": "output_text", "text": text}}})
}

// Only responses has a search.
func (chat) search(string) []event     { return nil }
func (gemini) search(string) []event   { return nil }
func (messages) search(string) []event { return nil }

// chat is OpenAI's API of chat completions.
type chat struct{}

func (chat) parse(body []byte) (r request, err error) {
	var in struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	for _, t := range in.Tools {
		r.offered = append(r.offered, tool{"", t.Function.Name})
	}
	for _, m := range in.Messages {
		if m.Role == "tool" {
			r.results = append(r.results, result{})
		}
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			if m.Role == "tool" {
				r.addText(text)
			}
			continue
		}
		var parts []struct {
			Type, Text string
			Image      struct{ URL string } `json:"image_url"`
			File       struct {
				Data string `json:"file_data"`
			}
		}
		if err := json.Unmarshal(m.Content, &parts); err != nil {
			return r, err
		}
		for _, p := range parts {
			switch {
			case p.Type == "image_url":
				if err := r.addPicture(dataURL(p.Image.URL)); err != nil {
					return r, err
				}
			case p.Type == "file":
				if err := r.addPicture(dataURL(p.File.Data)); err != nil {
					return r, err
				}
			case p.Type == "text" && m.Role == "tool":
				r.addText(p.Text)
			}
		}
	}
	return r, nil
}

func (chat) events(delta object, reason string) []event {
	chunk := func(delta object, reason any) object {
		return object{"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "script",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": reason}}}
	}
	return []event{{"", chunk(delta, nil)}, {"", chunk(object{}, reason)}, {"", "[DONE]"}}
}

func (d chat) call(id string, t tool, arguments string) []event {
	return d.events(object{"role": "assistant", "tool_calls": []object{{"index": 0, "id": id, "type": "function",
		"function": object{"name": t.name, "arguments": arguments}}}}, "tool_calls")
}

func (d chat) say(text string) []event {
	return d.events(object{"role": "assistant", "content": text}, "stop")
}

// gemini is Google's generateContent, streamed.
type gemini struct{}

// blob is an image in a part of a Gemini content.
type blob struct {
	MIME string `json:"mimeType"`
	Data string `json:"data"`
}

func (gemini) parse(body []byte) (r request, err error) {
	type part struct {
		Inline   *blob `json:"inlineData"`
		Response *struct {
			Response json.RawMessage
			Parts    []struct {
				Inline *blob `json:"inlineData"`
			}
		} `json:"functionResponse"`
	}
	var in struct {
		Contents []struct{ Parts []part }
		Tools    []struct {
			Functions []struct{ Name string } `json:"functionDeclarations"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			r.offered = append(r.offered, tool{"", f.Name})
		}
	}
	for _, c := range in.Contents {
		for _, p := range c.Parts {
			if p.Response != nil {
				r.results = append(r.results, result{})
				var texts map[string]string
				if err := json.Unmarshal(p.Response.Response, &texts); err != nil {
					return r, fmt.Errorf("%w in %.300s", err, p.Response.Response)
				}
				for _, text := range texts {
					r.addText(text)
				}
				for _, inner := range p.Response.Parts {
					if inner.Inline != nil {
						if err := r.addPicture(base64Picture(inner.Inline.MIME, inner.Inline.Data)); err != nil {
							return r, err
						}
					}
				}
			}
			if p.Inline != nil {
				if err := r.addPicture(base64Picture(p.Inline.MIME, p.Inline.Data)); err != nil {
					return r, err
				}
			}
		}
	}
	return r, nil
}

func (gemini) events(part object) []event {
	return []event{{"", object{
		"candidates":    []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []object{part}}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}}}
}

func (d gemini) call(id string, t tool, arguments string) []event {
	return d.events(object{"functionCall": object{"id": id, "name": t.name, "args": json.RawMessage(arguments)}})
}

func (d gemini) say(text string) []event { return d.events(object{"text": text}) }

// messages is Anthropic's API of that name.
type messages struct{}

func (messages) parse(body []byte) (r request, err error) {
	type block struct {
		Type, Text string
		Content    json.RawMessage
		Source     struct {
			Type, Data string
			MIME       string `json:"media_type"`
		}
	}
	var in struct {
		Messages []struct{ Content json.RawMessage }
		Tools    []struct{ Name string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	for _, t := range in.Tools {
		r.offered = append(r.offered, tool{"", t.Name})
	}
	for _, m := range in.Messages {
		var blocks []block
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue // a text
		}
		for _, b := range blocks {
			if b.Type != "tool_result" {
				continue
			}
			r.results = append(r.results, result{})
			var text string
			if json.Unmarshal(b.Content, &text) == nil {
				r.addText(text)
				continue
			}
			var inner []block
			if err := json.Unmarshal(b.Content, &inner); err != nil {
				return r, err
			}
			for _, i := range inner {
				switch i.Type {
				case "text":
					r.addText(i.Text)
				case "image":
					if err := r.addPicture(base64Picture(i.Source.MIME, i.Source.Data)); err != nil {
						return r, err
					}
				default:
					return r, fmt.Errorf("a block of type %s in a result", i.Type)
				}
			}
		}
	}
	return r, nil
}

func (messages) events(block, delta object, reason string) []event {
	return []event{
		{"message_start", object{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "script", "content": []object{},
			"usage": object{"input_tokens": 1, "output_tokens": 1}}}},
		{"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block}},
		{"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta}},
		{"content_block_stop", object{"type": "content_block_stop", "index": 0}},
		{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 1}}},
		{"message_stop", object{"type": "message_stop"}},
	}
}

func (d messages) call(id string, t tool, arguments string) []event {
	return d.events(object{"type": "tool_use", "id": id, "name": t.name, "input": object{}},
		object{"type": "input_json_delta", "partial_json": arguments}, "tool_use")
}

func (d messages) say(text string) []event {
	return d.events(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text}, "end_turn")
}
