// SPDX-License-Identifier: Apache-2.0

extension Type5Silicon {
    /// The commands of a manufacturer.
    mutating func custom(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let features = product.features
        if features.contains(.surveillance), (0xA2...0xA7).contains(request.command) {
            return try surveillance(request)
        }
        if features.contains(.passwords) { return try icode(request) }
        if features.contains(.configuration) { return try dynamicTag(request) }
        if features.contains(.tagConfiguration) { return try plainTag(request) }
        throw .notSupported
    }

    /// Octets, least significant first.
    static func word(_ octets: some BidirectionalCollection<UInt8>) -> UInt32 {
        octets.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Takes the random number off a password: it is combined with each half of 16 bits.
    func uncovered(_ octets: some Collection<UInt8>) -> [UInt8] {
        let mask = [UInt8(challenge & 0xFF), UInt8(challenge >> 8)]
        return zip(0..., octets).map { $0.1 ^ mask[$0.0 & 1] }
    }

    /// GET RANDOM NUMBER.
    mutating func nextChallenge() -> Type5Reply {
        challenge = UInt16(truncatingIfNeeded: random.next())
        return Type5Reply([UInt8(challenge & 0xFF), UInt8(challenge >> 8)])
    }
}
