// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
import TagLink
public import TagTrace

extension NFCEnvironment {
    /// The recording that acts as the reader, also while it is recorded again; nil for another kind of reader.
    public var replay: RecordingReplay? { (driver?.unrecorded as? any ReplayingDriver)?.replay }
}
