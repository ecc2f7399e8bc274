// SPDX-License-Identifier: Apache-2.0
import CardCryptography

/// Who signs the data of a document: a document signer of ICAO 9303-12, with its certificate and its key of RSA.
public struct EMRTDSigner: Sendable, Hashable {
    /// The certificate (X.509, DER), which the document carries.
    public var certificate: [UInt8]
    /// The private key (DER, PKCS #8 without encryption or PKCS #1).
    public var privateKey: [UInt8]

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - certificate: the certificate (X.509, DER) of the key.
    ///   - privateKey: the private key of RSA (DER, PKCS #8 without encryption or PKCS #1).
    public init(certificate: [UInt8], privateKey: [UInt8]) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// The issuer and the serial number of the certificate, as a signature names them; nil when it is no certificate.
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
