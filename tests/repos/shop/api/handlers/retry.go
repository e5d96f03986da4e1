package handlers

import (
	"errors"
	"time"
)

// ErrGaveUp is returned when every attempt has failed.
var ErrGaveUp = errors.New("gave up")

// Retry calls the payment provider again with exponential backoff until it works or attempts are used up.
func Retry(attempts int, first time.Duration, call func() error) error {
	wait := first
	for n := 0; n < attempts; n++ {
		if call() == nil {
			return nil
		}
		time.Sleep(wait)
		wait *= 2
	}
	return ErrGaveUp
}
