// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// PACE with generic mapping, for the machine readable zone and the card access number (ICAO 9303-11, 4.4).
extension EMRTDCard {
    enum PACEStep: Sendable {
        /// MSE:SET AT chose a protocol and a password.
        case chosen(PACEParameters, password: SecretBytes)
        case challenged(PACEParameters, nonce: SecretBytes)
        case mapped(PACEParameters, PACEAgreement)
        case agreed(PACEParameters, EMRTDKeys, own: [UInt8], other: [UInt8])
    }

    /// The protocols of EF.CardAccess that this card carries out.
    private var protocols: [PACEParameters] {
        var rest = (contents.cardAccess ?? [])[...]
        let set = DataObject(takingFrom: &rest)
        return (set.flatMap { DataObject.sequence($0.value) } ?? []).compactMap { information in
            guard let fields = DataObject.sequence(information.value), fields.count == 3,
                let curve = fields[2].value.last
            else { return nil }
            return PACEParameters(identifier: fields[0].value, curve: curve)
        }
    }

    /// MSE:SET AT: 80 names the protocol, 83 the password, and 84 the curve if there are several (4.4.4.1).
    mutating func beginPACE(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.parameters == 0xC1A4 else { throw .wrongParameters }
        guard let objects = DataObject.sequence(command.data) else { throw .wrongData }
        func value(_ tag: UInt16) -> [UInt8]? { objects.first { $0.tag == tag }?.value }
        let named = protocols.filter { $0.identifier == value(0x80) }
        let curve = value(0x84)?.last
        guard let parameters = named.first(where: { curve ?? $0.curveNumber == $0.curveNumber }),
            curve != nil || Set(protocols.map(\.curveNumber)).count == 1
        else { throw .wrongData }
        var password: [UInt8]?
        switch value(0x83) {
        case [0x01]: password = try? MessageDigest.sha1.hash(contents.zone.accessInformation)
        case [0x02]: password = contents.accessNumber.map { Array($0.utf8) }
        default: break
        }
        guard let password else { throw .noReferenceData }
        pace = .chosen(parameters, password: SecretBytes(password))
        return CardAnswer(status: .success)
    }

    /// GENERAL AUTHENTICATE: the next step, and after the last the session keys (4.4.4.2).
    mutating func continuePACE(
        _ command: CardCommand,
        after step: PACEStep?
    ) throws(CardStatus) -> (answer: CardAnswer, keys: EMRTDKeys?) {
        var rest = command.data[...]
        guard command.parameters == 0, let dynamic = DataObject(takingFrom: &rest), dynamic.tag == 0x7C, rest.isEmpty,
            let objects = DataObject.sequence(dynamic.value), objects.count <= 1
        else { throw .wrongData }
        func answer(_ tag: UInt16, _ value: [UInt8]) -> CardAnswer {
            CardAnswer(DataObject(0x7C, [DataObject(tag, value)]).bytes, status: .success)
        }
        switch (step, objects.first?.tag) {
        case (.chosen(let parameters, let password), nil):
            let nonce = randomBytes(16)
            guard let cipher = try? parameters.nonceCipher(password.bytes),
                let encrypted = try? cipher.encrypt(nonce, .blockChaining(vector: cipher.zeros))
            else { throw .executionError }
            pace = .challenged(parameters, nonce: SecretBytes(nonce))
            return (answer(0x80, encrypted), nil)
        case (.challenged(let parameters, let nonce), 0x81):
            guard let own = try? PACEAgreement(parameters, random: { randomBytes($0) }) else { throw .executionError }
            // Throws for a key that is no point of the curve.
            guard let agreement = try? own.mapping(nonce.bytes, with: objects[0].value) else { throw .wrongData }
            pace = .mapped(parameters, agreement)
            return (answer(0x82, agreement.mappingKey), nil)
        case (.mapped(let parameters, let agreement), 0x83):
            let key = objects[0].value
            guard key != agreement.agreementKey, let keys = try? agreement.sessionKeys(with: key) else {
                throw .wrongData
            }
            pace = .agreed(parameters, keys, own: agreement.agreementKey, other: key)
            return (answer(0x84, agreement.agreementKey), nil)
        case (.agreed(let parameters, let keys, let own, let other), 0x85) where command.cla == 0x00:
            guard let wanted = token(keys, parameters, own), let proof = token(keys, parameters, other) else {
                throw .executionError
            }
            guard ConstantTime.areEqual(objects[0].value, wanted) else { throw .authenticationFailed }
            return (answer(0x86, proof), keys)
        default: throw .conditionsNotSatisfied
        }
    }

    /// The authentication token of a public key, in its data object 7F49.
    private func token(_ keys: EMRTDKeys, _ parameters: PACEParameters, _ key: [UInt8]) -> [UInt8]? {
        let head = DataObject(0x06, parameters.identifier).bytes
        return try? keys.token(DataObject(0x7F49, head + DataObject(0x86, key).bytes).bytes)
    }
}

extension CardStatus {
    fileprivate static let noReferenceData = CardStatus(rawValue: 0x6A88)
}
