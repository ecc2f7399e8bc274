// SPDX-License-Identifier: Apache-2.0

/// A signature over the records since the previous signature, or since the start of the message. NFC Forum Signature
/// RTD 2.0.
///
/// This type only reads and writes the record. It doesn't verify the signature.
public struct SignatureRecord: PayloadRecord {
    static let kind = RecordKind.signature

    /// The version byte: 0x20 for 2.0.
    public var version: UInt8
    /// Whether ``signature`` holds a URI from which the signature can be loaded.
    public var isSignatureURI: Bool
    /// The signature algorithm: 0 none, 11 ECDSA P-256, and others; seven bits.
    public var signatureType: UInt8
    /// The hash algorithm: 2 for SHA-256.
    public var hashType: UInt8
    /// The signature, or its URI.
    public var signature: [UInt8]
    /// The format of the certificates: 0 X.509, 1 M2M; three bits.
    public var certificateFormat: UInt8
    /// At most 15 certificates, starting with the signer's.
    public var certificates: [[UInt8]]
    /// The URI of the next certificate in the chain.
    public var certificateURI: [UInt8]?

    /// Creates a record; each argument is the property of that name.
    public init(
        version: UInt8 = 0x20,
        isSignatureURI: Bool = false,
        signatureType: UInt8 = 11,
        hashType: UInt8 = 2,
        signature: [UInt8],
        certificateFormat: UInt8 = 0,
        certificates: [[UInt8]] = [],
        certificateURI: [UInt8]? = nil
    ) {
        self.version = version
        self.isSignatureURI = isSignatureURI
        self.signatureType = signatureType
        self.hashType = hashType
        self.signature = signature
        self.certificateFormat = certificateFormat
        self.certificates = certificates
        self.certificateURI = certificateURI
    }

    init(_ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        guard !payload.isAtEnd else { throw NDEFError(.emptyPayload) }
        guard let version = payload.nextByte(), let type = payload.nextByte(), let hash = payload.nextByte(),
            let count = payload.integer16()
        else { throw NDEFError(.tooShort) }
        guard let signature = payload.nextBytes(Int(count)) else { throw NDEFError(.signatureOverrun) }
        if type & 0x80 != 0 { try Self.checkURI(signature) }
        guard let chain = payload.nextByte() else { throw NDEFError(.tooShort) }
        self.init(
            version: version,
            isSignatureURI: type & 0x80 != 0,
            signatureType: type & 0x7F,
            hashType: hash,
            signature: signature,
            certificateFormat: chain >> 4 & 0x07
        )
        for _ in 0..<chain & 0x0F {
            certificates.append(try Self.field(&payload))
        }
        if chain & 0x80 != 0 {
            let uri = try Self.field(&payload)
            try Self.checkURI(uri)
            certificateURI = uri
        }
    }

    /// Checks that a URI is UTF-8 without control characters, as in a URI record.
    private static func checkURI(_ bytes: [UInt8]) throws(NDEFError) {
        try URIRecord.check(try PayloadReader(bytes, bytes.indices).string())
    }

    private static func field(_ payload: inout PayloadReader) throws(NDEFError) -> [UInt8] {
        guard let count = payload.integer16(), let bytes = payload.nextBytes(Int(count)) else {
            throw NDEFError(.certificateOverrun)
        }
        return bytes
    }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        if isSignatureURI { try Self.checkURI(signature) }
        if let certificateURI { try Self.checkURI(certificateURI) }
        let fields = [signature] + certificates + (certificateURI.map { [$0] } ?? [])
        guard certificates.count <= 15, fields.allSatisfy({ $0.count <= 0xFFFF }) else {
            throw NDEFError(.valueTooLong)
        }
        let type = signatureType & 0x7F | (isSignatureURI ? 0x80 : 0)
        let chain = (certificateFormat & 0x07) << 4 | UInt8(certificates.count) | (certificateURI == nil ? 0 : 0x80)
        var payload = [version, type, hashType]
        for (index, field) in fields.enumerated() {
            payload += UInt16(field.count).bytes + field
            if index == 0 { payload.append(chain) }
        }
        return .wellKnown("Sig", identifier: identifier, payload: payload)
    }
}
