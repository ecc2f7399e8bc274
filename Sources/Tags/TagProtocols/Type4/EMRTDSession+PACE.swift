// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// PACE with generic mapping (ICAO 9303-11, 4.4). The proof of chip authentication mapping is not checked.
extension EMRTDSession {
    /// A protocol of a document.
    struct PACEChoice {
        var parameters: PACEParameters
        /// Whether the document has several curves, so that the curve must be named.
        var needsCurve: Bool
    }

    /// Reads EF.CardAccess (9.2). Of the known protocols, it takes the one with the longest keys.
    ///
    /// - Returns: nil when the document has no PACE, or no known kind.
    static func paceChoice(_ card: any APDULink) async throws(TagError) -> PACEChoice? {
        var file: [UInt8] = []
        repeat {
            // The first command names the file by its short identifier.
            let (high, low) = file.isEmpty ? (0x9C, 0x00) : (UInt8(file.count >> 8), UInt8(file.count & 0xFF))
            let part = try await card.send(CommandAPDU(0x00, 0xB0, high, low, expectedLength: 256))
            guard part.status.isSuccessOrWarning, !part.data.isEmpty else { break }
            file += part.data
        } while file.count < min(DataObject.length(file) ?? 0, 0x4000)
        var rest = file[...]
        guard let set = DataObject(takingFrom: &rest), set.tag == 0x31 else { return nil }
        var curves: Set<[UInt8]> = []
        let all = (DataObject.sequence(set.value) ?? []).compactMap { information -> PACEParameters? in
            // The object identifier, the version, and the number of a standardised curve.
            guard let fields = DataObject.sequence(information.value), fields.count == 3, fields[0].tag == 0x06,
                fields[0].value.starts(with: PACEParameters.start), fields[2].tag == 0x02
            else { return nil }
            curves.insert(fields[2].value)
            return fields[2].value.count == 1
                ? PACEParameters(identifier: fields[0].value, curve: fields[2].value[0]) : nil
        }
        guard let best = all.max(by: { $0.cipher.rawValue < $1.cipher.rawValue }) else { return nil }
        return PACEChoice(parameters: best, needsCurve: curves.count > 1)
    }

    /// Opens the document (4.4.4). Nothing is selected afterwards but the master file.
    static func openByPACE(
        _ card: any APDULink,
        _ choice: PACEChoice,
        _ password: Password
    ) async throws(TagError) -> EMRTDSession {
        let parameters = choice.parameters
        let (reference, secret) = try coded { () throws(CryptographyError) -> (UInt8, [UInt8]) in
            switch password {
            case .accessInformation(let information): (0x01, try MessageDigest.sha1.hash(information))
            case .accessNumber(let digits): (0x02, digits)
            }
        }
        var protocolData = [DataObject(0x80, parameters.identifier), DataObject(0x83, [reference])]
        if choice.needsCurve { protocolData.append(DataObject(0x84, [parameters.curveNumber])) }
        let setting = CommandAPDU(0x00, 0x22, 0xC1, 0xA4, data: protocolData.flatMap(\.bytes))
        let status = try await card.send(setting).status
        guard status.rawValue != 0x6A88 else {
            throw TagError(.unsupported, "The document does not open to \(password.name).")
        }
        // The warning has the number of tries that are left.
        guard status.isSuccessOrWarning || status.rawValue & 0xFFF0 == 0x63C0 else {
            throw TagError(.refused, "The document refuses its own kind of PACE, with \(status).")
        }

        let encrypted = try await authenticate(card, [], answer: 0x80)
        // With an empty nonce, the generator would depend on no password.
        guard (16...64).contains(encrypted.count), encrypted.count.isMultiple(of: 16) else {
            throw TagError(.badAnswer, "The document's nonce has \(encrypted.count) bytes (ICAO 9303-11, 4.4.3.1).")
        }
        let nonce = try coded { () throws(CryptographyError) in
            let cipher = try parameters.nonceCipher(secret)
            return try cipher.decrypt(encrypted, .blockChaining(vector: cipher.zeros))
        }
        var agreement = try coded { () throws(CryptographyError) in
            try PACEAgreement(parameters) { count in (0..<count).map { _ in UInt8.random(in: 0...255) } }
        }
        let mapping = try await authenticate(card, [DataObject(0x81, agreement.mappingKey)], answer: 0x82)
        let mapped = agreement
        agreement = try coded(.badAnswer) { () throws(CryptographyError) in try mapped.mapping(nonce, with: mapping) }
        let key = try await authenticate(card, [DataObject(0x83, agreement.agreementKey)], answer: 0x84)
        guard key != agreement.agreementKey else {
            throw TagError(.badAnswer, "The document answers with the reader's own key (ICAO 9303-11, 4.4.1).")
        }
        let keys = try coded(.badAnswer) { () throws(CryptographyError) in try agreement.sessionKeys(with: key) }
        func token(_ key: [UInt8]) throws(TagError) -> [UInt8] {
            let object = DataObject(0x7F49, [DataObject(0x06, parameters.identifier), DataObject(0x86, key)])
            return try coded { () throws(CryptographyError) in try keys.token(object.bytes) }
        }
        let proof = try await authenticate(card, [DataObject(0x85, token(key))], answer: 0x86, isLast: true)
        guard ConstantTime.areEqual(proof, try token(agreement.agreementKey)) else {
            throw TagError(.authenticationFailed, "The document does not prove that it knows its own password.")
        }
        return EMRTDSession(card: card, keys: keys, counter: 0)
    }

    private static func authenticate(
        _ card: any APDULink,
        _ objects: [DataObject],
        answer tag: UInt16,
        isLast: Bool = false
    ) async throws(TagError) -> [UInt8] {
        let data = DataObject(0x7C, objects).bytes
        let command = CommandAPDU(isLast ? 0x00 : 0x10, 0x86, 0x00, 0x00, data: data, expectedLength: 256)
        let answer = try await card.send(command)
        guard answer.status == .success else {
            // A wrong password shows in the last step.
            guard isLast, answer.status.rawValue & 0xFF00 == 0x6300 else {
                throw TagError(.refused, "The document ended PACE with \(answer.status).")
            }
            throw TagError(.authenticationFailed, "The document has another zone or access number.")
        }
        var rest = answer.data[...]
        guard let dynamic = DataObject(takingFrom: &rest), dynamic.tag == 0x7C,
            let object = DataObject.sequence(dynamic.value)?.first(where: { $0.tag == tag })
        else { throw TagError(.badAnswer, "A step of PACE has no object \([UInt8(tag)].hexText()) in its answer.") }
        return object.value
    }
}

extension EMRTDSession.Password {
    fileprivate var name: String {
        switch self {
        case .accessInformation: "its machine readable zone"
        case .accessNumber: "an access number"
        }
    }
}
