// SPDX-License-Identifier: Apache-2.0

extension TagContents {
    /// Whether the contents include something that only the owner should read: keys, passwords, a travel document or a
    /// payment card.
    ///
    /// Passwords and keys of new products are not secret. Neither are zeros, because dumps have zeros in place of data
    /// that a reader can't read.
    public var holdsSecrets: Bool {
        switch self {
        case .type1, .nfcA: false
        case .type2(let contents): contents.holdsSecrets
        case .type3(.liteS(let contents)): contents.cardKey.contains { $0 != 0 }
        case .type3(.standard(let contents)): contents.systems.contains(where: \.holdsSecrets)
        case .type4(let contents): contents.holdsSecrets
        case .type5(let contents): contents.holdsSecrets
        case .classic(let contents): contents.holdsSecrets
        }
    }
}

extension ClassicContents {
    /// Whether a sector has a key other than FFFFFFFFFFFF, the key of a new tag.
    fileprivate var holdsSecrets: Bool {
        keyPlaces.contains { place in
            let key = memory[place.clamped(to: memory.indices)]
            return key.contains { $0 != 0 } && key.contains { $0 != 0xFF }
        }
    }
}

extension Type2Contents {
    /// Whether a password or a key differs from that of a new tag.
    fileprivate var holdsSecrets: Bool {
        secretPages.contains { page in
            guard memory.count >= 4 * page + 4 else { return false }
            let now = Array(memory[4 * page..<4 * page + 4])
            return now.contains { $0 != 0 } && now != product.factoryConfiguration[page]
        }
    }
}

extension Type4Contents {
    fileprivate var holdsSecrets: Bool {
        switch kind {
        case .ndef, .version, .unspecified: false
        case .desfire(let contents):
            ([contents.masterKey] + contents.applications.flatMap(\.keys)).contains { !$0.isZero }
        case .ntag424(let contents): contents.keys.contains { !$0.isZero }
        // The data of a person, or the number of a payment card.
        case .emrtd, .emv: true
        }
    }
}

extension FeliCaSystem {
    fileprivate var holdsSecrets: Bool {
        ([key ?? []] + nodeKeys.values).contains { $0.contains { $0 != 0 } }
    }
}

extension DESFireKey {
    /// Whether the key is that of a new card. The version is ignored.
    fileprivate var isZero: Bool { bytes == Self.zero(kind, version: version).bytes }
}

extension Type5Contents {
    fileprivate var holdsSecrets: Bool {
        let delivered = Type5Contents(blank: product).passwords
        return passwords.contains { $0.value != 0 && $0.value != delivered[$0.key] }
            || settings.passwords.contains { $0.contains { $0 != 0 } }
    }
}
