// SPDX-License-Identifier: Apache-2.0

// A test needs virtual tags and the sheet's states as well: one import gives all of it.
@_exported public import NFCRuntime
@_exported public import TagLink
@_exported public import VirtualTags
