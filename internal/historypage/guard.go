package historypage

import (
	"crypto/subtle"
	"net/http"
)

// policy lets the page load its own script, style and pictures, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// changesHeader must come with a request that changes something. A page of another origin cannot
// send it without leave, which this server never gives.
const changesHeader = "X-Fsmcp"

// guarded lets only requests of the page itself through.
func (p *page) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			w.Header().Set(name, value)
		}
		known := p.hasCookie(r)
		switch given := r.URL.Query().Get("token"); {
		case r.Host != p.host: // a name that an attacker has made to lead here
			http.Error(w, "This server has another name.", http.StatusMisdirectedRequest)
		case r.URL.Path == "/" && r.Method == http.MethodGet && given != "" && (p.takeToken(given) || known):
			http.SetCookie(w, &http.Cookie{Name: p.cookie, Value: p.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusSeeOther)
		case !known:
			http.Error(w, "Open the address that fsmcp history open has printed. It works once; run the command again for another one.", http.StatusForbidden)
		case foreign(r) || r.Method != http.MethodGet && (r.Header.Get("Origin") != "http://"+p.host || r.Header.Get(changesHeader) == ""):
			http.Error(w, "Another page has asked.", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// foreign reports whether a browser says that another origin made the request.
func foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// takeToken reports whether a token is the right one, which it is once.
func (p *page) takeToken(given string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	right := p.token != "" && equal(given, p.token)
	if right {
		p.token = ""
	}
	return right
}

func (p *page) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(p.cookie)
	return err == nil && equal(c.Value, p.secret)
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
