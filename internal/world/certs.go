package world

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// authority makes certificates for whatever is asked for. Its key exists in memory only.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate

	mu     sync.Mutex
	leaves map[string]*tls.Certificate // guarded by mu
}

// certLife is how long certificates are valid: longer than a Live, whatever the clock of a machine thinks.
const certLife = 10 * 365 * 24 * time.Hour

func newAuthority() (*authority, error) {
	a := &authority{leaves: map[string]*tls.Certificate{}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	der, err := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "wrun test world"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, &a.key.PublicKey)
	if err != nil {
		return nil, err
	}
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// sign makes a certificate; without a parent it is the authority's own.
func (a *authority) sign(c, parent *x509.Certificate, key *ecdsa.PublicKey) ([]byte, error) {
	now := time.Now()
	c.NotBefore, c.NotAfter = now.Add(-certLife), now.Add(certLife)
	var err error
	if c.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, err
	}
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key, a.key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return der, nil
}

// pem is what clients trust.
func (a *authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
}

// leaf is the certificate of a host, a name or an address.
func (a *authority) leaf(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.leaves[host]; c != nil {
		return c, nil
	}
	c := &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{host}
	}
	der, err := a.sign(c, a.cert, &a.key.PublicKey)
	if err != nil {
		return nil, err
	}
	a.leaves[host] = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}
	return a.leaves[host], nil
}

// config is TLS as the servers of a world speak it. A client that asks for an address names no host: it gets the certificate of where
// it wanted to go.
func (a *authority) config(target string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			host := hello.ServerName
			if host == "" {
				host = target
			}
			return a.leaf(host)
		},
	}
}
