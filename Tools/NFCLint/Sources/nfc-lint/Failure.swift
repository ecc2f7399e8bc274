// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A failure to read or write a file.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Why writing failed, as text to append to a sentence; empty if the reason is unknown.
    static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileWriteNoPermission: ": permission denied"
        case .fileNoSuchFile: ": its folder does not exist"
        case .fileWriteOutOfSpace: ": the disk is full"
        case .fileWriteVolumeReadOnly: ": the disk is read-only"
        default: ""
        }
    }
}
