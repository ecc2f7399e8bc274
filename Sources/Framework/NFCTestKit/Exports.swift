// SPDX-License-Identifier: Apache-2.0

// Tests also need virtual tags and the states of the sheet. With these exports, one import is enough.
@_exported public import NFCReaders
@_exported public import NFCSessions
@_exported public import TagImages
@_exported public import TagLink
@_exported public import TagTrace
@_exported public import VirtualTags
