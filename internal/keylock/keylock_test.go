package keylock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestLockKeepsUsersOfOneKeyApart(t *testing.T) {
	var f Locks
	var wg sync.WaitGroup
	inside, most := 0, 0
	for range 50 {
		wg.Go(func() {
			done, err := f.Lock(context.Background(), "p")
			if err != nil {
				t.Error(err)
				return
			}
			inside++
			most = max(most, inside)
			time.Sleep(100 * time.Microsecond)
			inside--
			done()
		})
	}
	wg.Wait()
	if most != 1 {
		t.Fatalf("%d calls at once", most)
	}
	if len(f.users) != 0 {
		t.Fatalf("%d keys left behind", len(f.users))
	}
	done, _ := f.Lock(context.Background(), "p")
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := f.Lock(ctx, "p"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("waiting ended with %v", err)
	}
	other, err := f.Lock(context.Background(), "q")
	if err != nil {
		t.Fatal(err)
	}
	other()
}

func TestTryLockDoesNotWait(t *testing.T) {
	var f Locks
	done, err := f.Lock(t.Context(), "/f")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.TryLock("/f"); ok {
		t.Error("locked twice")
	}
	done()
	done, ok := f.TryLock("/f")
	if !ok {
		t.Fatal("not free")
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		done, err := f.Lock(context.Background(), "/f")
		if err == nil {
			done()
		}
	}()
	select {
	case <-waited:
		t.Error("Lock did not wait for TryLock")
	case <-time.After(20 * time.Millisecond):
	}
	done()
	<-waited
	if len(f.users) != 0 {
		t.Errorf("%d keys are left", len(f.users))
	}
}

// Callers that want the same keys in other orders, some of them twice, all get them in the end;
// one that gives up holds none.
func TestLockAllNeverWaitsInACircle(t *testing.T) {
	var f Locks
	var wg sync.WaitGroup
	inside := map[string]int{}
	for i := range 40 {
		wg.Go(func() {
			keys := [][]string{{"a", "b", "c"}, {"c", "b", "a", "c"}, {"b", "a"}, {"c", "a"}}[i%4]
			for range 50 {
				unlock, err := f.LockAll(t.Context(), keys)
				if err != nil {
					t.Error(err)
					return
				}
				if i%4 < 2 { // both hold a, b and c: the race detector sees it if not
					inside["abc"]++
				}
				unlock()
			}
		})
	}
	wg.Wait()
	if inside["abc"] != 20*50 {
		t.Errorf("%d", inside["abc"])
	}
	hold, _ := f.Lock(t.Context(), "b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.LockAll(ctx, []string{"b", "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	hold()
	if len(f.users) != 0 {
		t.Errorf("%d keys left behind", len(f.users))
	}
}

// A caller whose context has ended meanwhile still gets a key that is free.
func TestFreeKeyIsLockedAfterTheTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var f Locks
	for range 100 {
		done, err := f.Lock(ctx, "p")
		if err != nil {
			t.Fatal(err)
		}
		done()
	}
}
