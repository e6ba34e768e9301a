// Package remote asks a model's provider for the token count of a text. It is the only
// place where text of files leaves the machine, and only if the user's own settings say
// so; its callers decide which texts.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// answerTimeout bounds the wait for the provider's answer.
	answerTimeout = 2 * time.Second
	// pauseAfterFailure bounds how long a failed provider is not asked, so that not every
	// Read waits for it.
	pauseAfterFailure = 30 * time.Second
	// maxReply bounds what is read of an answer.
	maxReply = 64 << 10
)

// Counter has the model's provider count, over HTTP (source: the count-tokens
// endpoint of the Messages API). The text is sent there and nowhere else: a
// redirect is not followed. The zero value cannot be used; see New.
type Counter struct {
	url, key, model string
	client          *http.Client
	pausedUntil     atomic.Int64 // until when, in Unix nanoseconds
}

// New asks the endpoint at url. Nothing is sent before the first Count.
func New(url, key, model string) *Counter {
	return &Counter{url: url, key: key, model: model, client: &http.Client{
		Timeout:       answerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ErrResting says that the provider failed a moment ago and was not asked.
var ErrResting = errors.New("the token counting service failed a moment ago")

// Count asks for the tokens of a text, for at most two seconds. Errors hold
// neither the text nor the key.
func (a *Counter) Count(ctx context.Context, text []byte) (int, error) {
	if time.Now().UnixNano() < a.pausedUntil.Load() {
		return 0, ErrResting
	}
	n, err := a.ask(ctx, text)
	if err != nil && ctx.Err() == nil {
		a.pausedUntil.Store(time.Now().Add(pauseAfterFailure).UnixNano())
	}
	return n, err
}

func (a *Counter) ask(ctx context.Context, text []byte) (int, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body, err := json.Marshal(struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
	}{a.model, []message{{"user", string(text)}}})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", a.key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	reply, err := a.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the token counting service answered %s", reply.Status)
	}
	var counted struct {
		InputTokens int `json:"input_tokens"`
	}
	err = json.NewDecoder(io.LimitReader(reply.Body, maxReply)).Decode(&counted)
	if err == nil && counted.InputTokens <= 0 {
		err = errors.New("no count in it")
	}
	if err != nil {
		return 0, fmt.Errorf("the answer of the token counting service was not understood: %w", err)
	}
	return counted.InputTokens, nil
}
