// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The rights to a file of a DESFire or NTAG 424 card: numbers of keys, four bits each, where E is everybody and F nobody
/// (NTAG 424 DNA data sheet, 8.2.3.3). A right is named by the bit at which it begins.
struct AccessRights {
    let bits: UInt16

    private func key(_ shift: Int) -> UInt8 { UInt8(bits >> shift & 0x0F) }

    /// Whether one of the rights is everybody's, or the key's that was proved.
    func allow(_ provedKey: UInt8?, _ shifts: [Int]) -> Bool {
        shifts.contains { key($0) == 0x0E || (key($0) != 0x0F && key($0) == provedKey) }
    }

    /// How data go between card and reader: as the file says where the key that was proved gives one of the rights, and
    /// plain where everybody has it.
    func communication(_ setting: UInt8, _ provedKey: UInt8?, _ shifts: [Int]) -> CommunicationMode {
        shifts.contains { key($0) == provedKey } ? CommunicationMode(setting) : .plain
    }
}
