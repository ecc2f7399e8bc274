// SPDX-License-Identifier: Apache-2.0
import CoreNFC

// Forms of commands that have a newer one, as old code calls them.

/// The fields of a tag's system information; none when there is an error.
func oldSystemInfo(of tag: any NFCISO15693Tag, _ done: @escaping @Sendable ([Int]) -> Void) {
    tag.getSystemInfo(requestFlags: [.highDataRate]) { dsfid, afi, blockSize, blockCount, icReference, error in
        done(error == nil ? [dsfid, afi, blockSize, blockCount, icReference] : [])
    }
}

/// Whether a tag has locked its DSFID.
func oldLockDSFID(of tag: any NFCISO15693Tag, _ done: @escaping @Sendable (Bool) -> Void) {
    tag.lockDFSID(requestFlags: [.highDataRate]) { error in done(error == nil) }
}
