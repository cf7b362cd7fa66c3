// One entry of the list in files.c: the file that FILE_OF_PAGE names, with what is in it. No include guard: it is included
// for each file again.
{
    FILE_OF_PAGE,
    (const unsigned char[]){
#embed FILE_OF_PAGE
    },
    sizeof((const unsigned char[]){
#embed FILE_OF_PAGE
    }),
},
#undef FILE_OF_PAGE
