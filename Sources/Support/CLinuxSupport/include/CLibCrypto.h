// SPDX-License-Identifier: Apache-2.0
// Ciphers, hashes and signatures of the system's libcrypto (OpenSSL 3 or 1.1). The library is opened at run time, and its
// headers are not needed to build. A function that returns false or 0 was refused by libcrypto.
#ifndef OPENCORENFC_LIBCRYPTO_H
#define OPENCORENFC_LIBCRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ocn_cipher {
    ocn_aes_128_ecb,
    ocn_aes_128_cbc,
    ocn_triple_des_ecb,
    ocn_triple_des_cbc,
};

enum ocn_digest {
    ocn_sha1,
    ocn_sha256,
};

// Opens libcrypto, the first time that it is called. Any thread may call it. The other functions need it.
//
// libcrypto then works until the process is gone. By itself it frees its memory when the process begins to end, and a thread
// that uses it then crashes or hangs (OpenSSL manual, OPENSSL_init_crypto).
//
// Returns what is missing: NULL for nothing, "" for the library, or the name of a function that the library lacks.
const char *ocn_crypto_missing(void);

// Enciphers or deciphers whole blocks. `key` has 16 bytes for AES, 24 for triple DES; `vector` has one block, also for ECB,
// which ignores it; `output` has room for `size` bytes.
bool ocn_crypto_cipher(enum ocn_cipher cipher, bool encrypts, const uint8_t *key, const uint8_t *vector, const uint8_t *data,
                       int size, uint8_t *output);

// Hashes data. `output` has room for the digest: 20 bytes for SHA-1, 32 for SHA-256.
bool ocn_crypto_digest(enum ocn_digest digest, const uint8_t *data, size_t size, uint8_t *output);

// Hashes a message and signs the hash with a private key in DER.
//
// Returns the length of the signature; 0 when libcrypto refuses, or the signature may be longer than `capacity`.
size_t ocn_crypto_sign(const uint8_t *key, size_t key_size, enum ocn_digest digest, const uint8_t *message, size_t size,
                       uint8_t *signature, size_t capacity);

#endif
