// SPDX-License-Identifier: Apache-2.0
#include "CLibCrypto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// The declarations that are needed from OpenSSL's headers.
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct evp_md_st EVP_MD;
typedef struct evp_pkey_ctx_st EVP_PKEY_CTX;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct engine_st ENGINE;
typedef struct ossl_init_settings_st OPENSSL_INIT_SETTINGS;
typedef struct bio_st BIO;
typedef struct bio_method_st BIO_METHOD;
typedef struct CMS_ContentInfo_st CMS_ContentInfo;
typedef struct stack_st_X509 STACK_OF_X509;
typedef struct x509_st X509;
typedef struct x509_store_st X509_STORE;
typedef struct bignum_st BIGNUM;
typedef struct bignum_ctx BN_CTX;
typedef struct ec_group_st EC_GROUP;
typedef struct ec_point_st EC_POINT;
typedef int pem_password_cb(char *buffer, int size, int writes, void *data);

enum {
    POINT_CONVERSION_UNCOMPRESSED = 4,
    EVP_PKEY_RSA = 6,
    EVP_PKEY_CTRL_RSA_PADDING = 0x1001,
    RSA_NO_PADDING = 3,
    OPENSSL_INIT_NO_ATEXIT = 0x00080000,
    CMS_NO_SIGNER_CERT_VERIFY = 0x20,
    CMS_BINARY = 0x80,
    X509_PURPOSE_ANY = 7,
    X509_V_FLAG_PARTIAL_CHAIN = 0x80000,
    X509_V_FLAG_NO_CHECK_TIME = 0x200000,
};

#define CRYPTO_FUNCTIONS(FUNCTION)                                                                                   \
    FUNCTION(int, OPENSSL_init_crypto, (uint64_t options, const OPENSSL_INIT_SETTINGS *settings))                    \
    FUNCTION(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void))                                                           \
    FUNCTION(void, EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX * context))                                                  \
    FUNCTION(int, EVP_CIPHER_CTX_set_padding, (EVP_CIPHER_CTX * context, int pads))                                  \
    FUNCTION(int, EVP_CipherInit_ex,                                                                                 \
             (EVP_CIPHER_CTX * context, const EVP_CIPHER *cipher, ENGINE *engine, const unsigned char *key,          \
              const unsigned char *vector, int encrypts))                                                            \
    FUNCTION(int, EVP_CipherUpdate,                                                                                  \
             (EVP_CIPHER_CTX * context, unsigned char *output, int *written, const unsigned char *data, int size))   \
    FUNCTION(const EVP_CIPHER *, EVP_aes_128_ecb, (void))                                                            \
    FUNCTION(const EVP_CIPHER *, EVP_aes_128_cbc, (void))                                                            \
    FUNCTION(const EVP_CIPHER *, EVP_aes_192_ecb, (void))                                                            \
    FUNCTION(const EVP_CIPHER *, EVP_aes_192_cbc, (void))                                                            \
    FUNCTION(const EVP_CIPHER *, EVP_aes_256_ecb, (void))                                                            \
    FUNCTION(const EVP_CIPHER *, EVP_aes_256_cbc, (void))                                                            \
    FUNCTION(const EVP_CIPHER *, EVP_des_ede3_ecb, (void))                                                           \
    FUNCTION(const EVP_CIPHER *, EVP_des_ede3_cbc, (void))                                                           \
    FUNCTION(const EVP_MD *, EVP_sha1, (void))                                                                       \
    FUNCTION(const EVP_MD *, EVP_sha224, (void))                                                                     \
    FUNCTION(const EVP_MD *, EVP_sha384, (void))                                                                     \
    FUNCTION(const EVP_MD *, EVP_sha512, (void))                                                                     \
    FUNCTION(const EVP_MD *, EVP_sha256, (void))                                                                     \
    FUNCTION(int, EVP_Digest,                                                                                        \
             (const void *data, size_t size, unsigned char *output, unsigned int *written, const EVP_MD *digest,     \
              ENGINE *engine))                                                                                       \
    FUNCTION(EVP_PKEY *, d2i_AutoPrivateKey, (EVP_PKEY * *key, const unsigned char **data, long size))               \
    FUNCTION(void, EVP_PKEY_free, (EVP_PKEY * key))                                                                  \
    FUNCTION(EVP_MD_CTX *, EVP_MD_CTX_new, (void))                                                                   \
    FUNCTION(void, EVP_MD_CTX_free, (EVP_MD_CTX * context))                                                          \
    FUNCTION(int, EVP_DigestSignInit,                                                                                \
             (EVP_MD_CTX * context, EVP_PKEY_CTX * *key_context, const EVP_MD *digest, ENGINE *engine, EVP_PKEY *key)) \
    FUNCTION(int, EVP_DigestSign,                                                                                    \
             (EVP_MD_CTX * context, unsigned char *signature, size_t *written, const unsigned char *message, size_t size)) \
    FUNCTION(EVP_PKEY *, d2i_PUBKEY, (EVP_PKEY * *key, const unsigned char **data, long size))                       \
    FUNCTION(EVP_PKEY_CTX *, EVP_PKEY_CTX_new, (EVP_PKEY * key, ENGINE *engine))                                     \
    FUNCTION(void, EVP_PKEY_CTX_free, (EVP_PKEY_CTX * context))                                                      \
    FUNCTION(int, EVP_PKEY_verify_init, (EVP_PKEY_CTX * context))                                                    \
    FUNCTION(BIO *, BIO_new, (const BIO_METHOD *method))                                                             \
    FUNCTION(BIO *, BIO_new_mem_buf, (const void *data, int size))                                                   \
    FUNCTION(const BIO_METHOD *, BIO_s_mem, (void))                                                                  \
    FUNCTION(int, BIO_read, (BIO * bio, void *data, int size))                                                       \
    FUNCTION(int, BIO_free, (BIO * bio))                                                                             \
    FUNCTION(CMS_ContentInfo *, d2i_CMS_ContentInfo,                                                                 \
             (CMS_ContentInfo * *message, const unsigned char **data, long size))                                    \
    FUNCTION(void, CMS_ContentInfo_free, (CMS_ContentInfo * message))                                                \
    FUNCTION(int, CMS_verify,                                                                                        \
             (CMS_ContentInfo * message, STACK_OF_X509 *certificates, X509_STORE *store, BIO *detached, BIO *output, \
              unsigned int flags))                                                                                   \
    FUNCTION(X509 *, PEM_read_bio_X509, (BIO * bio, X509 * *certificate, pem_password_cb *callback, void *data))     \
    FUNCTION(void, X509_free, (X509 * certificate))                                                                  \
    FUNCTION(X509_STORE *, X509_STORE_new, (void))                                                                   \
    FUNCTION(void, X509_STORE_free, (X509_STORE * store))                                                            \
    FUNCTION(int, X509_STORE_add_cert, (X509_STORE * store, X509 *certificate))                                      \
    FUNCTION(int, X509_STORE_set_flags, (X509_STORE * store, unsigned long flags))                                   \
    FUNCTION(int, X509_STORE_set_purpose, (X509_STORE * store, int purpose))                                         \
    FUNCTION(int, OBJ_sn2nid, (const char *name))                                                                    \
    FUNCTION(EC_GROUP *, EC_GROUP_new_by_curve_name, (int name))                                                     \
    FUNCTION(void, EC_GROUP_free, (EC_GROUP * group))                                                                \
    FUNCTION(EC_POINT *, EC_POINT_new, (const EC_GROUP *group))                                                      \
    FUNCTION(void, EC_POINT_clear_free, (EC_POINT * point))                                                          \
    FUNCTION(int, EC_POINT_oct2point,                                                                                \
             (const EC_GROUP *group, EC_POINT *point, const unsigned char *bytes, size_t size, BN_CTX *context))     \
    FUNCTION(size_t, EC_POINT_point2oct,                                                                             \
             (const EC_GROUP *group, const EC_POINT *point, int form, unsigned char *bytes, size_t size,             \
              BN_CTX *context))                                                                                      \
    FUNCTION(int, EC_POINT_mul,                                                                                      \
             (const EC_GROUP *group, EC_POINT *result, const BIGNUM *factor, const EC_POINT *point,                  \
              const BIGNUM *point_factor, BN_CTX *context))                                                          \
    FUNCTION(int, EC_POINT_is_at_infinity, (const EC_GROUP *group, const EC_POINT *point))                           \
    FUNCTION(BIGNUM *, BN_bin2bn, (const unsigned char *bytes, int size, BIGNUM *number))                            \
    FUNCTION(void, BN_clear_free, (BIGNUM * number))                                                                 \
    FUNCTION(void, ERR_clear_error, (void))                                                                          \
    FUNCTION(int, EVP_PKEY_verify_recover_init, (EVP_PKEY_CTX * context))                                            \
    FUNCTION(int, EVP_PKEY_CTX_ctrl,                                                                                 \
             (EVP_PKEY_CTX * context, int type, int operation, int command, int number, void *pointer))              \
    FUNCTION(int, EVP_PKEY_verify_recover,                                                                           \
             (EVP_PKEY_CTX * context, unsigned char *content, size_t *size, const unsigned char *signature,          \
              size_t signature_size))                                                                                \
    FUNCTION(int, EVP_PKEY_sign_init, (EVP_PKEY_CTX * context))                                                      \
    FUNCTION(int, EVP_PKEY_sign,                                                                                     \
             (EVP_PKEY_CTX * context, unsigned char *signature, size_t *written, const unsigned char *hash, size_t size)) \
    FUNCTION(int, EVP_PKEY_verify,                                                                                   \
             (EVP_PKEY_CTX * context, const unsigned char *signature, size_t signature_size,                         \
              const unsigned char *hash, size_t size))

// Declares a function pointer for each function. load() finds the functions in the library.
#define DECLARE(type, name, parameters) static type(*name) parameters;
#define FIND(type, name, parameters) \
    if ((name = dlsym(library, #name)) == NULL) missing = #name;

CRYPTO_FUNCTIONS(DECLARE)

static const char *missing;

static void load(void) {
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen("libcrypto.so.1.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        missing = "";
        return;
    }
    CRYPTO_FUNCTIONS(FIND)
    if (missing == NULL) OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

const char *ocn_crypto_missing(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return missing;
}

static const EVP_CIPHER *cipher_named(enum ocn_cipher cipher) {
    switch (cipher) {
        case ocn_aes_128_ecb: return EVP_aes_128_ecb();
        case ocn_aes_128_cbc: return EVP_aes_128_cbc();
        case ocn_aes_192_ecb: return EVP_aes_192_ecb();
        case ocn_aes_192_cbc: return EVP_aes_192_cbc();
        case ocn_aes_256_ecb: return EVP_aes_256_ecb();
        case ocn_aes_256_cbc: return EVP_aes_256_cbc();
        case ocn_triple_des_ecb: return EVP_des_ede3_ecb();
        case ocn_triple_des_cbc: return EVP_des_ede3_cbc();
    }
    return NULL;
}

static const EVP_MD *digest_named(enum ocn_digest digest) {
    switch (digest) {
        case ocn_sha1: return EVP_sha1();
        case ocn_sha224: return EVP_sha224();
        case ocn_sha256: return EVP_sha256();
        case ocn_sha384: return EVP_sha384();
        case ocn_sha512: return EVP_sha512();
    }
    return NULL;
}

bool ocn_crypto_cipher(enum ocn_cipher cipher, bool encrypts, const uint8_t *key, const uint8_t *vector, const uint8_t *data,
                       int size, uint8_t *output) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int written = 0;
    bool is_done = context != NULL
        && EVP_CipherInit_ex(context, cipher_named(cipher), NULL, key, vector, encrypts) == 1
        && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && EVP_CipherUpdate(context, output, &written, data, size) == 1;
    EVP_CIPHER_CTX_free(context);
    return is_done && written == size;
}

bool ocn_crypto_digest(enum ocn_digest digest, const uint8_t *data, size_t size, uint8_t *output) {
    return EVP_Digest(data, size, output, NULL, digest_named(digest), NULL) == 1;
}

size_t ocn_crypto_sign(const uint8_t *key, size_t key_size, enum ocn_digest digest, const uint8_t *message, size_t size,
                       uint8_t *signature, size_t capacity) {
    EVP_PKEY *private_key = d2i_AutoPrivateKey(NULL, &key, (long)key_size);
    if (private_key == NULL) return 0;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t length = 0;
    bool is_done = context != NULL
        && EVP_DigestSignInit(context, NULL, digest_named(digest), NULL, private_key) == 1
        && EVP_DigestSign(context, NULL, &length, message, size) == 1 && length <= capacity
        && EVP_DigestSign(context, signature, &length, message, size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(private_key);
    return is_done ? length : 0;
}

size_t ocn_crypto_apply(const uint8_t *key, size_t key_size, bool is_rsa, const uint8_t *data, size_t size, uint8_t *output,
                        size_t capacity) {
    EVP_PKEY *private_key = d2i_AutoPrivateKey(NULL, &key, (long)key_size);
    if (private_key == NULL) return 0;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(private_key, NULL);
    size_t length = 0;
    bool is_done = context != NULL && EVP_PKEY_sign_init(context) == 1
        && (!is_rsa || EVP_PKEY_CTX_ctrl(context, EVP_PKEY_RSA, -1, EVP_PKEY_CTRL_RSA_PADDING, RSA_NO_PADDING, NULL) == 1)
        && EVP_PKEY_sign(context, NULL, &length, data, size) == 1 && length <= capacity
        && EVP_PKEY_sign(context, output, &length, data, size) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(private_key);
    ERR_clear_error();
    return is_done ? length : 0;
}

bool ocn_crypto_verify(const uint8_t *key, size_t key_size, const uint8_t *hash, size_t size, const uint8_t *signature,
                       size_t signature_size) {
    EVP_PKEY *public_key = d2i_PUBKEY(NULL, &key, (long)key_size);
    if (public_key == NULL) return false;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(public_key, NULL);
    bool is_valid = context != NULL && EVP_PKEY_verify_init(context) == 1
        && EVP_PKEY_verify(context, signature, signature_size, hash, size) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(public_key);
    return is_valid;
}

size_t ocn_crypto_recover(const uint8_t *key, size_t key_size, const uint8_t *signature, size_t signature_size,
                          uint8_t *content, size_t capacity) {
    EVP_PKEY *public_key = d2i_PUBKEY(NULL, &key, (long)key_size);
    if (public_key == NULL) return 0;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(public_key, NULL);
    size_t length = 0;
    bool is_done = context != NULL && EVP_PKEY_verify_recover_init(context) == 1
        && EVP_PKEY_CTX_ctrl(context, EVP_PKEY_RSA, -1, EVP_PKEY_CTRL_RSA_PADDING, RSA_NO_PADDING, NULL) == 1
        && EVP_PKEY_verify_recover(context, NULL, &length, signature, signature_size) == 1 && length <= capacity
        && EVP_PKEY_verify_recover(context, content, &length, signature, signature_size) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(public_key);
    ERR_clear_error();
    return is_done ? length : 0;
}

size_t ocn_crypto_curve_point(const char *curve, const uint8_t *factor, size_t factor_size, const uint8_t *point,
                              size_t point_size, const uint8_t *point_factor, size_t point_factor_size, uint8_t *result,
                              size_t capacity) {
    EC_GROUP *group = EC_GROUP_new_by_curve_name(OBJ_sn2nid(curve));
    if (group == NULL) return 0;
    BIGNUM *number = factor != NULL ? BN_bin2bn(factor, (int)factor_size, NULL) : NULL;
    BIGNUM *point_number = point != NULL ? BN_bin2bn(point_factor, (int)point_factor_size, NULL) : NULL;
    EC_POINT *given = EC_POINT_new(group);
    EC_POINT *sum = EC_POINT_new(group);
    size_t length = 0;
    bool is_done = given != NULL && sum != NULL && (factor == NULL || number != NULL)
        && (point == NULL
            || (point_number != NULL && point_size > 0 && point[0] == POINT_CONVERSION_UNCOMPRESSED && EC_POINT_oct2point(group, given, point, point_size, NULL) == 1
                && !EC_POINT_is_at_infinity(group, given)))
        && EC_POINT_mul(group, sum, number, point != NULL ? given : NULL, point_number, NULL) == 1
        && !EC_POINT_is_at_infinity(group, sum);
    if (is_done) length = EC_POINT_point2oct(group, sum, POINT_CONVERSION_UNCOMPRESSED, result, capacity, NULL);
    EC_POINT_clear_free(sum);
    EC_POINT_clear_free(given);
    BN_clear_free(point_number);
    BN_clear_free(number);
    EC_GROUP_free(group);
    ERR_clear_error();
    return length;
}

/// Reads certificates in PEM into a store; NULL if there are none.
static X509_STORE *store_of(const uint8_t *issuers, size_t size) {
    X509_STORE *store = X509_STORE_new();
    BIO *bio = BIO_new_mem_buf(issuers, (int)size);
    int count = 0, left = 0;
    for (size_t start = 0; start + 10 <= size; start++) left += memcmp(issuers + start, "-----BEGIN", 10) == 0;
    // A damaged certificate does not hide those after it.
    for (; store != NULL && bio != NULL && left > 0; left--) {
        X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        if (certificate != NULL && X509_STORE_add_cert(store, certificate) == 1) count++;
        X509_free(certificate);
    }
    BIO_free(bio);
    ERR_clear_error();
    // A document outlives its signer's certificate, which is for no purpose that OpenSSL knows.
    if (count > 0 && X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME) == 1
        && X509_STORE_set_purpose(store, X509_PURPOSE_ANY) == 1) {
        return store;
    }
    X509_STORE_free(store);
    return NULL;
}

size_t ocn_crypto_signed_content(const uint8_t *message, size_t size, const uint8_t *issuers, size_t issuers_size,
                                 uint8_t *content, size_t capacity) {
    X509_STORE *store = issuers != NULL ? store_of(issuers, issuers_size) : NULL;
    if (issuers != NULL && store == NULL) return 0;
    CMS_ContentInfo *parsed = d2i_CMS_ContentInfo(NULL, &message, (long)size);
    BIO *output = BIO_new(BIO_s_mem());
    unsigned int flags = CMS_BINARY | (store == NULL ? CMS_NO_SIGNER_CERT_VERIFY : 0);
    int length = 0;
    if (parsed != NULL && output != NULL && CMS_verify(parsed, NULL, store, NULL, output, flags) == 1) {
        // One byte more than fits shows that the content is too long.
        length = BIO_read(output, content, (int)capacity);
        uint8_t rest;
        if (length < 0 || BIO_read(output, &rest, 1) == 1) length = 0;
    }
    BIO_free(output);
    CMS_ContentInfo_free(parsed);
    X509_STORE_free(store);
    ERR_clear_error();
    return (size_t)length;
}
