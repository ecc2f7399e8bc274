// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Testing

/// Signatures of RSA and elliptic curves, against the command openssl.
struct SigningKeyTests {
    @Test func `RSA: signs with SHA-256 and SHA-1 as the command openssl does`() throws {
        let key = SigningKey(encoded: bytes(Self.key))
        #expect(try key.sign(Array("abc".utf8), .sha256) == bytes(Self.signature))
        #expect(try key.sign(Array("abc".utf8), .sha1) == bytes(Self.signatureOfSHA1))
    }

    @Test(arguments: [[], [0x30, 0x00], [UInt8](repeating: 0x30, count: 600)])
    func `an invalid private key: refused`(encoded: [UInt8]) throws {
        let error = #expect(throws: CryptographyError.self) {
            try SigningKey(encoded: encoded).sign([1, 2, 3], .sha256)
        }
        #expect(error?.code == .refused)
    }

    @Test func `P-256: each of 64 signatures is a DER sequence with its right length`() throws {
        let key = SigningKey(encoded: bytes(Self.curveKey))
        // Its two numbers are shorter now and then, and so is the signature.
        for _ in 0..<64 {
            let signature = try key.sign(Array("abc".utf8), .sha256)
            #expect(signature.count > 8 && signature[0] == 0x30 && Int(signature[1]) == signature.count - 2)
        }
    }

    @Test func `RSA: signs with a modulus of 16384 bits, the largest that OpenSSL takes`() throws {
        let message = Array("abc".utf8)
        // Version, modulus and exponents. With the exponent 1 the signature is the padded hash (RFC 8017, 9.2).
        let modulus: [UInt8] = [0x00] + [UInt8](repeating: 0xFF, count: 2047) + [0xFD]
        var numbers: [[UInt8]] = [[0], modulus, [1], [1]]
        // Factors that are wrong: the library notices this, and calculates without them.
        numbers += [[3], [5], [1], [1], [1]]
        let key = SigningKey(encoded: Self.der(0x30, numbers.flatMap { Self.der(0x02, $0) }))
        let signature = try key.sign(message, .sha256)
        #expect(signature.count == 2048 && signature.starts(with: [0x00, 0x01, 0xFF]))
        #expect(try Array(signature.suffix(32)) == MessageDigest.sha256.hash(message))
    }

    /// Encodes a value in DER.
    private static func der(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        let count = value.count
        return [tag] + (count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]) + value
    }

    /// A key of P-256 that openssl ecparam made for this test (SEC 1).
    private static let curveKey = """
        30770201010420a3db26d716aca6a52da68616dddf65ae1cd2e1f4d2c3d304a872890b726f7811a00a06082a8648ce3d0301
        07a144034200041ad841cfb202be2919658ab255659d47bd988999a449d33ac7daead3079382b125184a43e76d45bac03c5a
        d5812be4d039b2a370ca58335032250d41ca417874
        """

    /// A key of 1024 bits that openssl genrsa made for this test (PKCS #1).
    private static let key = """
            3082025c02010002818100cf60d4ea688faca42ce51b946ebd6da7091330058ae00bf79ea58fa14685af01702863caf5902b
            7b2d6ab567741f090c8482b8adf7259930a92601c254ab1eccabce564420ffc6785a3b7d79010a10490b8462b6de1b0e353e
            aef38ed2302c8fae2ed9482fcd92021afe40b86acb71973f91eca64a02ef34813b50599bd4b46d0203010001028181008c85
            18c11dc8fd3ae210fcf73f72ac729afb9d76a3fbdd2015282a8325be402fc1481d16d1feb6f7e8767e2573d1f3d7bf92b481
            6d0ed516dc071cfa09554ab03d178119e85a969fbae0b7ae286ba5ad84375d50a518d51d0b3c596ce027cd9a3b9a82407ce8
            c23f84d48edbca62f83a63309861a72b7e16b373f73f6065da21024100e7bbfa805dcfe1b9e7e2e9698371e634597d4d91bd
            70e19b9490a91bd02adf7ef333ec5716d24a8c77eebb1dc5e6b89769de3abef49c8e1923354b6abc22d08b024100e517f2fa
            14b28d1b51bcf64c45f74531003720e7af4c733807f5c5c2dff5730e00a309904d1666b9cded3c2eb8a396d75ea7976b477d
            21970bdf4f941db175e70240055990a1f00881949226e9ee96ab457e45e69fa8d2afcd75930b77ebfd754fed955dc8820633
            daa6bd8a1465ce90d20824d88d90a5030c40c6504faa6a277f9b02405f70fdca0feb5efbfdae9291ae2858cc1441e3548264
            802fdca9188d9a4e2073b9f2325ecaaec5772d0263ab3742f7e99bc6883faa55c833ac3f8960b48a250b02401044393ff946
            572f89f00cf6cf65af1b363dcbe682c9dca2ba669848f4a9c90e1cca15cf1140fd7610e3996b8e9f0a6a4e025092fb6083b6
            80b9ac481dc0120a
        """

    /// The signature of the message abc with this key, created by openssl dgst -sha256 -sign.
    private static let signature = """
            3a479a0d294665a794134b6907d021b72b8ff5623a1f4180a18df45d92aba46d54de499d7fb7a777641ed7fbe1b1d6255a12
            7b2914283f1f63c3945f1ee524a8aeab1e4aaf31fa7f1d1c13e658a729d40b60533278c00ff23dc5c1ce46ef024a493a0b35
            26b55c5ae9def947dd6f012c50477841617955a610de0719307630c9
        """

    /// The same, created by openssl dgst -sha1 -sign.
    private static let signatureOfSHA1 = """
            37cbeeb259fc6fa0c522c67a652665dc2d519a6c0e592803f1e897078366c172ad60ed7b068d77817fc1f5b31b90eadfc2cc
            ef99d76cd7057c26f67c3c543280d1bb6e8bbe7a38a00b2e3b2609f92c0c6e697a9be5bdf13c473c8423fa29cbf9fada4a55
            5fab4ec7d6e3713c7e414bca55c8f7dcec34887306d4c907961e95a6
        """
}
