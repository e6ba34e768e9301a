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
	a := New(s.URL, "k", "m")
	a.client.Timeout = time.Minute // the machine may be busy
	n, err := a.Count(t.Context(), []byte("hello <b>\n"))
	if n != 42 || err != nil || got.Model != "m" || len(got.Messages) != 1 || got.Messages[0].Role != "user" || got.Messages[0].Content != "hello <b>\n" {
		t.Fatalf("%d %v, was sent %+v", n, err, got)
	}
}

func TestAPIFailsAndThenRests(t *testing.T) {
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
			a.client.Timeout = time.Minute // it is the answer that has to fail
			failsOnce(t, a)
			if asked.Load() != 1 {
				t.Errorf("asked %d times", asked.Load())
			}
		})
	}
}

// failsOnce wants an error that gives nothing away, and then no further question.
func failsOnce(t *testing.T, a *Counter) {
	t.Helper()
	_, err := a.Count(context.Background(), []byte("canary"))
	if err == nil || errors.Is(err, ErrResting) || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "secret-key") {
		t.Errorf("error %v", err)
	}
	if _, err := a.Count(context.Background(), []byte("x")); !errors.Is(err, ErrResting) {
		t.Errorf("asked again: %v", err)
	}
}

// Count does not wait for a provider that does not answer. The fastest of several tries is
// judged: a busy machine delays only some.
func TestAPIFailsInTime(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer s.Close()
	best := time.Hour
	for n := 0; n < 10 && best > answerTimeout+time.Second; n++ {
		start := time.Now()
		failsOnce(t, New(s.URL, "secret-key", "m"))
		best = min(best, time.Since(start))
	}
	if best > answerTimeout+time.Second {
		t.Errorf("took %v at best", best)
	}
}
