// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Makes messages of what people and programs write in JSON.
enum MessageBuilder {
    /// A message of an object with `records`, or of one record alone.
    static func message(_ value: JSONValue) throws(InputError) -> NDEFMessage {
        let top = try JSONMembers(value, record: 0)
        guard case .array(let values) = top.members["records"] else {
            if top.has("records") { throw top.error("records", "must be an array") }
            return NDEFMessage([try record(top)])
        }
        var records: [NDEFRecord] = []
        for (index, value) in values.enumerated() {
            records.append(try record(try JSONMembers(value, record: index)))
        }
        return NDEFMessage(records)
    }

    /// A record of its octets when they are there, otherwise of what it says.
    private static func record(_ members: JSONMembers) throws(InputError) -> NDEFRecord {
        if members.has("tnf") {
            guard let format = TypeNameFormat(rawValue: try members.number("tnf", UInt8.self)) else {
                throw members.error("tnf", "must be 0 to 7")
            }
            return NDEFRecord(
                format,
                type: try members.hex("type_hex"),
                identifier: try members.hex("id_hex"),
                payload: try members.hex("payload_hex")
            )
        }
        let identifier = try members.hex("id_hex")
        guard members.has("decoded") else {
            guard members.has("kind") else { throw members.error("kind", "is missing, and so is 'tnf'") }
            return try record(members, identifier: identifier)
        }
        guard case .object(let decoded) = members.members["decoded"] else {
            throw members.error("decoded", "must be an object")
        }
        let inner = try JSONMembers(.object(decoded), record: members.record)
        return try record(inner, identifier: identifier, payload: try members.hex("payload_hex"))
    }

    private static func record(
        _ members: JSONMembers,
        identifier: [UInt8],
        payload: [UInt8] = []
    ) throws(InputError) -> NDEFRecord {
        if members.has("error") { throw members.error("error", "says that the payload is damaged; give its octets") }
        let name = try members.string("kind")
        guard let kind = RecordKind(rawValue: name) else {
            let kinds = RecordKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw members.error("kind", "must be one of \(kinds)")
        }
        let payload = payload.isEmpty ? try members.hex("payload_hex") : payload
        do {
            return try RecordBuilder(members, payload: payload, identifier: identifier).record(kind)
        } catch let error as RecordError {
            throw InputError(
                name: error.code.description,
                offset: members.record,
                message: "Record \(members.record): \(error.reason)"
            )
        } catch let error as InputError {
            throw error
        } catch {
            throw members.error("kind", "can't be made")
        }
    }
}
