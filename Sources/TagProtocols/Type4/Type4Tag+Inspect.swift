// SPDX-License-Identifier: Apache-2.0

extension Type4Tag {
    /// The file that the capability container names for the message.
    package struct MessageFile: Sendable, Hashable {
        /// Its identifier, such as E104.
        package var identifier: UInt16
        /// Its octets, those of the length field included.
        package var size: Int
        /// 00 where reading is free.
        package var readAccess: UInt8
        /// 00 where writing is free, FF where there is none.
        package var writeAccess: UInt8
    }

    /// The file that the capability container names; nil before that was read, and where it is none.
    package var messageFile: MessageFile? {
        capabilityContainer.map {
            MessageFile(
                identifier: $0.messageFile,
                size: $0.fileSize,
                readAccess: $0.readAccess,
                writeAccess: $0.writeAccess
            )
        }
    }
}
