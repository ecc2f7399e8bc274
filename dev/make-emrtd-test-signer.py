# SPDX-License-Identifier: Apache-2.0
"""Creates a test CSCA and a document signer with a certificate of it, and writes the Swift file with both certificates.

The file also contains the signer's private key. The CSCA's private key is deleted, so that it can't issue another
certificate. Needs openssl.
Usage: python3 dev/make-emrtd-test-signer.py
"""
import pathlib
import subprocess
import tempfile

TARGET = "Sources/VirtualTags/VirtualTags/EMRTD/EMRTDSigner+Test.swift"
# ICAO 9303-12, table 6. The document types of the signer are passports, P, and cards, I.
CONFIGURATION = """
[req]
distinguished_name = name
prompt = no
[name]
[ca]
default_ca = issuing
[issuing]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = policy
email_in_dn = no
[policy]
countryName = supplied
organizationName = supplied
commonName = supplied
[authority]
basicConstraints = critical, CA:true, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[signer]
keyUsage = critical, digitalSignature
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
2.23.136.1.1.6.2 = ASN1:SEQUENCE:documents
[documents]
version = INTEGER:0
types = SET:types
[types]
identity = PRINTABLESTRING:I
passport = PRINTABLESTRING:P
"""
# A long validity, so that tests do not depend on the date.
VALIDITY = ["-startdate", "20200101000000Z", "-enddate", "21200101000000Z"]
# ISO 3166 does not assign UT. The documents are from UTO, Utopia.
SUBJECT = "/C=UT/O=OpenCoreNFC, test material that vouches for nothing/CN=OpenCoreNFC Test "

HEADER = """// SPDX-License-Identifier: Apache-2.0
import TagLink

// Written by dev/make-emrtd-test-signer.py.

extension EMRTDSigner {
    /// A document signer for tests. Its private key is public, so its signatures prove nothing.
    ///
    /// Let a reader trust only ``testAuthorityCertificate``.
    public static let test = EMRTDSigner(certificate: bytes(certificateDigits), privateKey: bytes(keyDigits))

    /// The self-signed certificate (DER) of the country signing certificate authority (CSCA) of Utopia, which has
    /// issued the certificate of ``test``. Its private key was deleted.
    public static let testAuthorityCertificate: [UInt8] = bytes(authorityDigits)

    private static func bytes(_ digits: String) -> [UInt8] {
        [UInt8](hexadecimal: digits.utf8.filter { $0 != 0x0A }) ?? []
    }
"""


def openssl(folder, *arguments):
    return subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True).stdout


def literal(name, data):
    digits = data.hex()
    lines = "\n".join("        " + digits[start:start + 104] for start in range(0, len(digits), 104))
    return f'\n    private static let {name} = """\n{lines}\n        """\n'


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "openssl.cnf").write_text(CONFIGURATION)
        pathlib.Path(folder, "index.txt").touch()
        request = ["req", "-newkey", "rsa:2048", "-nodes", "-config", "openssl.cnf"]
        issue = ["ca", "-batch", "-notext", "-config", "openssl.cnf", "-keyfile", "csca.key", *VALIDITY]
        openssl(folder, *request, "-keyout", "csca.key", "-out", "csca.csr", "-subj", SUBJECT + "CSCA")
        openssl(folder, *issue, "-selfsign", "-in", "csca.csr", "-out", "csca.pem", "-extensions", "authority")
        openssl(folder, *request, "-keyout", "ds.key", "-out", "ds.csr", "-subj", SUBJECT + "Document Signer")
        openssl(folder, *issue, "-cert", "csca.pem", "-in", "ds.csr", "-out", "ds.pem", "-extensions", "signer")
        authority = openssl(folder, "x509", "-in", "csca.pem", "-outform", "DER")
        certificate = openssl(folder, "x509", "-in", "ds.pem", "-outform", "DER")
        private = openssl(folder, "pkcs8", "-topk8", "-nocrypt", "-in", "ds.key", "-outform", "DER")
    text = HEADER + literal("authorityDigits", authority) + literal("certificateDigits", certificate)
    (root / TARGET).write_text(text + literal("keyDigits", private) + "}\n")


main()
