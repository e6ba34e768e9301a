package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// Calls that name many files run alone on each of them and in the order in which they came,
// none waits for another in a circle, and one that was given up holds up no lane.
func TestCallsOfManyLanes(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := DefaultBounds()
		b.Width = 1 + rng.IntN(8)
		p := New(b)
		p.Answer = func(*Job) {}
		p.Dropped = func(*Job) {}
		var mu sync.Mutex
		inLane, last := make(map[string]bool), make(map[string]int)
		order := make(map[string]int)
		p.Run = func(j *Job) bool {
			mu.Lock()
			for lane := range j.lanes {
				if inLane[lane] || last[lane] > order[j.Key] {
					t.Errorf("seed %d: %s runs in %s out of its turn", seed, j.Key, lane)
				}
				inLane[lane], last[lane] = true, order[j.Key]
			}
			mu.Unlock()
			if rand.IntN(3) == 0 {
				time.Sleep(time.Duration(rand.IntN(50)) * time.Microsecond)
			}
			mu.Lock()
			for lane := range j.lanes {
				inLane[lane] = false
			}
			mu.Unlock()
			return false
		}
		for i := range 200 {
			j := &Job{Key: fmt.Sprint(i), At: time.Now()}
			_, j.Cancel = context.WithCancelCause(t.Context())
			var names []string
			for range 1 + rng.IntN(5) {
				names = append(names, fmt.Sprint("file", rng.IntN(6)))
			}
			j.SetLanes(names)
			mu.Lock()
			order[j.Key] = i + 1
			mu.Unlock()
			if why, _ := p.Submit(j, false); why != "" {
				t.Fatal(why)
			}
			if rng.IntN(5) == 0 {
				p.CancelCall(fmt.Sprint(rng.IntN(i + 1)))
			}
		}
		select {
		case <-p.WhenEmpty():
		case <-time.After(20 * time.Second):
			t.Fatalf("seed %d: calls wait for each other", seed)
		}
		// A cancelled job leaves its lanes when its turn comes.
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			p.mu.Lock()
			left := len(p.lanes.behind)
			p.mu.Unlock()
			if left == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("seed %d: %d lanes are left", seed, left)
			}
		}
	}
}
