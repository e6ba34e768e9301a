package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestAPISendsOneMessageAndTakesItsCount(t *testing.T) {
	var got struct {
		Model    string
		Messages []struct{ Role, Content string }
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" || r.Header.Get("X-Api-Key") != "k" || r.Header.Get("Anthropic-Version") == "" {
			t.Errorf("%s %v", r.Method, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		io.WriteString(w, `{"input_tokens": 42}`)
	}))
	defer s.Close()
	n, err := New(s.URL, "k", "m").Count(t.Context(), []byte("hello <b>\n"))
	if n != 42 || err != nil || got.Model != "m" || len(got.Messages) != 1 || got.Messages[0].Role != "user" || got.Messages[0].Content != "hello <b>\n" {
		t.Fatalf("%d %v, was sent %+v", n, err, got)
	}
}

func TestAPIFailsInTimeAndThenRests(t *testing.T) {
	for name, reply := range map[string]http.HandlerFunc{
		"error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		},
		"nonsense": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") },
		"no count": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") },
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat(" ", 1<<20)+`{"input_tokens": 1}`)
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				asked.Add(1)
				reply(w, r)
			}))
			defer s.Close()
			a := New(s.URL, "secret-key", "m")
			start := time.Now()
			_, err := a.Count(context.Background(), []byte("canary"))
			if err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "secret-key") {
				t.Errorf("error %v", err)
			}
			if took := time.Since(start); took > patience+time.Second {
				t.Errorf("took %v", took)
			}
			if _, err := a.Count(context.Background(), []byte("x")); !errors.Is(err, ErrResting) || asked.Load() != 1 {
				t.Errorf("asked %d times: %v", asked.Load(), err)
			}
		})
	}
}
