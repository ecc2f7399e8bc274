// SPDX-License-Identifier: Apache-2.0
// Ciphers, hashes and signatures from the system's libcrypto (OpenSSL 3 or 1.1). The library is opened at run time, so
// a build does not need its headers. A function returns false or 0 if libcrypto refuses.
#ifndef OPENCORENFC_LIBCRYPTO_H
#define OPENCORENFC_LIBCRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ocn_cipher {
    ocn_aes_128_ecb,
    ocn_aes_128_cbc,
    ocn_aes_192_ecb,
    ocn_aes_192_cbc,
    ocn_aes_256_ecb,
    ocn_aes_256_cbc,
    ocn_triple_des_ecb,
    ocn_triple_des_cbc,
};

enum ocn_digest {
    ocn_sha1,
    ocn_sha224,
    ocn_sha256,
    ocn_sha384,
    ocn_sha512,
};

// Opens libcrypto on the first call. Call this before the other functions. Any thread may call it.
//
// libcrypto's own exit handler is disabled. Otherwise libcrypto would free its memory as soon as the process begins to
// exit, and a thread that still uses it would crash or hang (OpenSSL manual, OPENSSL_init_crypto).
//
// Returns NULL if nothing is missing, "" if the library is missing, or the name of a missing function.
const char *ocn_crypto_missing(void);

// Encrypts or decrypts whole blocks. `key` has 16, 24 or 32 bytes for AES, 24 for triple DES. `vector` has one block, even for
// ECB, which ignores it. `output` has room for `size` bytes.
bool ocn_crypto_cipher(enum ocn_cipher cipher, bool encrypts, const uint8_t *key, const uint8_t *vector, const uint8_t *data,
                       int size, uint8_t *output);

// Hashes data. `output` has room for the digest: 20 bytes for SHA-1, 32 for SHA-256.
bool ocn_crypto_digest(enum ocn_digest digest, const uint8_t *data, size_t size, uint8_t *output);

// Hashes a message and signs the hash with a private key in DER.
//
// Returns the length of the signature; 0 if libcrypto refuses, or if the signature may be longer than `capacity`.
size_t ocn_crypto_sign(const uint8_t *key, size_t key_size, enum ocn_digest digest, const uint8_t *message, size_t size,
                       uint8_t *signature, size_t capacity);

// Signs a hash, without another hash, with a private key in DER; or computes the power of a block, as long as the modulus, with
// a private key of RSA.
//
// Returns the length of the output; 0 if libcrypto refuses, or if it may be longer than `capacity`.
size_t ocn_crypto_apply(const uint8_t *key, size_t key_size, bool is_rsa, const uint8_t *data, size_t size, uint8_t *output,
                        size_t capacity);

// Returns whether a signature in DER is that of a hash, with a public key in DER (SubjectPublicKeyInfo).
bool ocn_crypto_verify(const uint8_t *key, size_t key_size, const uint8_t *hash, size_t size, const uint8_t *signature,
                       size_t signature_size);

// Returns what an RSA signature in a scheme of ISO/IEC 9796-2 holds: the signature to the power of a public key in DER
// (SubjectPublicKeyInfo), without any padding removed.
//
// Returns its length; 0 for another key, or if it may be longer than `capacity`.
size_t ocn_crypto_recover(const uint8_t *key, size_t key_size, const uint8_t *signature, size_t signature_size,
                          uint8_t *content, size_t capacity);

// Computes a point of an elliptic curve: the generator times `factor`, plus `point` times `point_factor`. Either may be left
// out, with NULL. Numbers are big-endian, and points uncompressed (SEC 1, 2.3.3).
//
// `curve` is the curve's name in OpenSSL. Returns the length of the result; 0 if `point` is not on the curve, or if the result is
// infinity or has more than `capacity` bytes.
size_t ocn_crypto_curve_point(const char *curve, const uint8_t *factor, size_t factor_size, const uint8_t *point,
                              size_t point_size, const uint8_t *point_factor, size_t point_factor_size, uint8_t *result,
                              size_t capacity);

/// Checks the signatures of a CMS message with the certificates in it (RFC 5652, 5), and copies its content.
///
/// @param issuers certificates in PEM, one of which must have issued the signer's; NULL to trust any signer.
/// @return the length of the content; 0 if a signature or a certificate is wrong, or the content has more than `capacity`.
size_t ocn_crypto_signed_content(const uint8_t *message, size_t size, const uint8_t *issuers, size_t issuers_size,
                                 uint8_t *content, size_t capacity);

#endif
