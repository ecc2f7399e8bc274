// SPDX-License-Identifier: Apache-2.0

/// The access rights of a file of a DESFire or NTAG 424 card: a key for each right (NTAG 424 DNA data sheet, 8.2.3.3).
///
/// An integer literal is the 16 bits as data sheets write them: 0xE000 can be read by everybody, and key 0 may do the rest.
public struct FileAccessRights: RawRepresentable, Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// What a key may do with a file.
    public enum Right: Int, Sendable, Hashable, CaseIterable {
        case read = 12
        case write = 8
        /// Read, write, and change a value in both directions.
        case readWrite = 4
        /// Change the file's settings.
        case change = 0
    }

    /// Who has a right.
    public enum Holder: Sendable, Hashable {
        /// Whoever has authenticated with the key of this number, 0 to 13.
        case key(UInt8)
        case everybody
        case nobody
    }

    /// Four bits for each right, starting with reading at the highest: the number of a key, E for everybody, F for nobody.
    public var rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public init(integerLiteral value: UInt16) { rawValue = value }

    /// Returns who has a right.
    public func holder(of right: Right) -> Holder {
        switch UInt8(rawValue >> right.rawValue & 0x0F) {
        case 0x0E: .everybody
        case 0x0F: .nobody
        case let number: .key(number)
        }
    }

    /// Returns whether one of the rights belongs to everybody, or to the authenticated key.
    func allow(_ provedKey: UInt8?, _ rights: [Right]) -> Bool {
        rights.contains { holder(of: $0) == .everybody } || hasOne(of: rights, provedKey)
    }

    /// Returns how data are protected between card and reader: as the file's settings say if the authenticated key has
    /// one of the rights. Otherwise everybody has one, and the data are plain.
    func mode(
        _ settings: CommunicationSettings,
        _ provedKey: UInt8?,
        _ rights: [Right]
    ) -> CommunicationMode {
        hasOne(of: rights, provedKey) ? settings.mode : .plain
    }

    private func hasOne(of rights: [Right], _ provedKey: UInt8?) -> Bool {
        guard let provedKey else { return false }
        return rights.contains { holder(of: $0) == .key(provedKey) }
    }
}
