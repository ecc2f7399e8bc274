// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// A document signer with its certificate and its RSA key (ICAO 9303-12). It signs the hashes of data groups.
public struct EMRTDSigner: Sendable, Hashable {
    /// The certificate (X.509, DER). Documents contain this certificate.
    public var certificate: [UInt8]
    /// The private key (DER, PKCS #8 without encryption or PKCS #1).
    @Hidden public var privateKey: [UInt8]

    /// Creates a signer.
    public init(certificate: [UInt8], privateKey: [UInt8]) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// The issuer and the serial number in the format of a signature; nil when ``certificate`` is invalid.
    var issuerAndSerialNumber: DataObject? {
        var rest = certificate[...]
        guard let whole = DataObject(takingFrom: &rest), whole.tag == DER.sequence,
            let body = DataObject.sequence(whole.value)?.first,
            var fields = DataObject.sequence(body.value)?[...]
        else { return nil }
        if fields.first?.tag == DER.context(0) { fields = fields.dropFirst() }
        let serial = fields.popFirst()
        let issuer = fields.dropFirst().first
        guard let serial, serial.tag == DER.integer, let issuer, issuer.tag == DER.sequence else { return nil }
        return DataObject(DER.sequence, [issuer, serial])
    }
}

extension EMRTDContents {
    /// Returns EF.SOD: the signed hashes of the data groups, given by number (ICAO 9303-10, 4.6.2; RFC 5652).
    static func securityObject(of groups: [Int: [UInt8]], signer: EMRTDSigner) throws(EMRTDError) -> [UInt8] {
        guard let signerIdentifier = signer.issuerAndSerialNumber else {
            throw EMRTDError(.unsuitableContents, "The signer's certificate is not in DER.")
        }
        do {
            let content = try hashes(of: groups)
            let hash = DataObject(DER.octetString, try MessageDigest.sha256.hash(content.bytes))
            // DER requires the members of a set to be sorted by their bytes. These are in that order.
            let attributes = [
                DER.sequence(of: DER.contentType, DataObject(DER.set, [DER.securityObject])),
                DER.sequence(of: DER.messageDigest, DataObject(DER.set, [hash])),
            ]
            // The signature covers the attributes with a set's tag. The file stores a context tag instead (RFC 5652,
            // 5.4).
            let key = SigningKey(encoded: signer.privateKey)
            let signature = try key.sign(DataObject(DER.set, attributes).bytes, .sha256)
            let signerInfo = DER.sequence(
                of: DER.number(1),
                signerIdentifier,
                DER.sha256,
                DataObject(DER.context(0), attributes),
                DER.sha256WithRSA,
                DataObject(DER.octetString, signature)
            )
            let encapsulated = DataObject(DER.context(0), [DataObject(DER.octetString, content.bytes)])
            let signedData = DER.sequence(
                of: DER.number(3),
                DataObject(DER.set, [DER.sha256]),
                DER.sequence(of: DER.securityObject, encapsulated),
                DataObject(DER.context(0), signer.certificate),
                DataObject(DER.set, [signerInfo])
            )
            let message = DER.sequence(of: DER.signedData, DataObject(DER.context(0), [signedData]))
            return DataObject(0x77, [message]).bytes
        } catch {
            throw EMRTDError(.cryptography, error.reason)
        }
    }

    /// Returns the LDS security object, version 0, with the hashes.
    private static func hashes(of groups: [Int: [UInt8]]) throws(CryptographyError) -> DataObject {
        var hashes: [DataObject] = []
        for (number, file) in groups.sorted(by: { $0.key < $1.key }) {
            let hash = DataObject(DER.octetString, try MessageDigest.sha256.hash(file))
            hashes.append(DER.sequence(of: DER.number(UInt8(number)), hash))
        }
        return DER.sequence(of: DER.number(0), DER.sha256, DataObject(DER.sequence, hashes))
    }
}
